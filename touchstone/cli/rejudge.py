"""`touchstone rejudge`: stored answers under today's judge."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from touchstone.baseline.sides import Side
from touchstone.cli.completion import run_or_pack_names
from touchstone.cli.options import json_option, settings_options
from touchstone.cli.session import bench_for, settings_of, show, show_results
from touchstone.config import Effective
from touchstone.errors import BadInputError, ExitCode
from touchstone.gate.bench import Bench
from touchstone.gate.measure import judge_run, unjudged
from touchstone.gate.reference import Reference, agreed_reference, named_reference, runs_side
from touchstone.gate.rejudge import rejudged_reference, rejudged_run
from touchstone.gate.rejudged import judge_moved
from touchstone.render.rejudged import judge_moved_lines
from touchstone.render.words import Words
from touchstone.run.bundle import Bundle
from touchstone.run.find import find_bundle


@click.command(epilog="Example: touchstone rejudge baselines/default/starter.json --judge-model MODEL")
@click.argument("what", metavar="RUN|BASELINE", shell_complete=run_or_pack_names)
@settings_options(asks=True)
@json_option
def command(what: str, as_json: bool, **given: Any) -> int:
    """Stored answers under today's judge: did the answers move, or the one who scores them?

    Of a run, or of a baseline (file, REF:PATH, or pack id) that keeps its answers. The models are not
    asked. The outcome is a run of its own, beside the old one; it can be compared, never promoted. Only
    the judge is today's: questions, dimensions and rules stay those the answers were given under.
    """
    effective = settings_of(given)
    with bench_for(effective, given, go_on="touchstone judge --bundle") as bench:
        bundle, before = _rejudged(what, bench, effective)
        bench.say(f"judged again as {bundle.id}")
        result = judge_run(bench, bundle)
    if not as_json:
        words = Words(effective.config.language)
        show("".join(f"{line}\n" for line in judge_moved_lines(judge_moved(before, bundle), words)))
    show_results([bundle], [result], as_json=as_json, language=effective.config.language)
    return ExitCode.NOT_JUDGED if unjudged(result, bundle.manifest.suite) else ExitCode.NOTHING_WORSE


def _rejudged(name: str, bench: Bench, effective: Effective) -> tuple[Bundle, Side]:
    """The new run, still to be judged, and the side its numbers are held against."""
    try:
        run = find_bundle(name, bench.runs_dir, Path.cwd())
    except BadInputError as no_run:
        reference = _reference(name, effective)
        if reference is None:
            raise no_run from None
        return rejudged_reference(bench, reference), reference.side
    return rejudged_run(bench, run), runs_side([run])


def _reference(name: str, effective: Effective) -> Reference | None:
    today = datetime.now(UTC).date()
    named = named_reference(name, effective.root, Path.cwd(), today)
    return named or agreed_reference(effective.config, effective.root, name, today)
