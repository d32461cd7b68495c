"""`touchstone eval`: ask every prompt of a pack and keep every answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from touchstone.cli.options import part_of, refuse_mixed_start, run_options
from touchstone.cli.session import bench_for, packs_of, resumed, settings_of, show_results, warn_unpromotable
from touchstone.errors import ExitCode
from touchstone.gate.measure import ask_run, unanswered
from touchstone.gate.start import Order, start_run


@click.command(
    epilog="Example: touchstone eval --pack packs/starter.yaml --base-url http://127.0.0.1:1234/v1 --model M"
)
@click.option("--draw", type=click.IntRange(min=0), default=0, help="Which draw this is (shifts the seeds).")
@run_options(resumes="Go on with a run: ask what is still open; repeatable.")
def command(*, draw: int, as_json: bool, **given: Any) -> int:
    """Ask every prompt of a pack and keep every answer.

    Every answer is written when it arrives; an interrupted run goes on with --resume.
    """
    refuse_mixed_start(given, draw)
    effective = settings_of(given)
    with bench_for(effective, given, go_on="touchstone eval --resume") as bench:
        if given["runs"]:
            bundles = [resumed(name, bench) for name in given["runs"]]
        else:
            loaded = packs_of(effective, given["packs"], Path.cwd())
            bundles = [start_run(bench, Order(pack, draw, part_of(given))) for pack in loaded]
            for bundle in bundles:
                warn_unpromotable(bundle)
        results = [ask_run(bench, bundle) for bundle in bundles]
    show_results(bundles, results, as_json=as_json, language=effective.config.language)
    return ExitCode.NOT_JUDGED if any(map(unanswered, results)) else ExitCode.NOTHING_WORSE
