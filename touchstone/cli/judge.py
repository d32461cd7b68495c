"""`touchstone judge`: score the kept answers of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from touchstone.cli.completion import run_names
from touchstone.cli.options import json_option, settings_options
from touchstone.cli.session import bench_for, settings_of, show_results
from touchstone.errors import ExitCode
from touchstone.gate.measure import judge_run, unjudged
from touchstone.run.find import find_bundle


@click.command(epilog="Example: touchstone judge --bundle latest")
@click.option(
    "--bundle",
    "run",
    required=True,
    metavar="RUN",
    shell_complete=run_names,
    help="The run: path, id, prefix or latest.",
)
@click.option(
    "--reuse-verdicts",
    "reuse",
    metavar="RUN",
    shell_complete=run_names,
    help="Take over another run's verdicts on unchanged answers; the run can never be promoted.",
)
@settings_options(asks=True)
@json_option
def command(run: str, reuse: str | None, as_json: bool, **given: Any) -> int:
    """Score the kept answers of a run.

    Runs the pack's checks and asks the run's judge about every answer without a verdict. Only the judge
    is needed, not the models.

    --reuse-verdicts asks the judge only where answer, rubric, input or judge are not those of the other
    run (or of the run a judgements.jsonl lies in). Such verdicts are labelled as reused.
    """
    effective = settings_of(given)
    with bench_for(effective, given, go_on="touchstone judge --bundle") as bench:
        bundle = find_bundle(run, bench.runs_dir, Path.cwd())
        other = find_bundle(reuse, bench.runs_dir, Path.cwd()) if reuse else None
        result = judge_run(bench, bundle, other)
    show_results([bundle], [result], as_json=as_json, language=effective.config.language)
    return ExitCode.NOT_JUDGED if unjudged(result, bundle.manifest.suite) else ExitCode.NOTHING_WORSE
