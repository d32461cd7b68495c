"""`touchstone eval`: ask every prompt of a pack and keep every answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from touchstone.cli.options import json_option, narrowing_options, quiet_option, settings_options
from touchstone.cli.session import bench_for, packs_of, resumed, settings_of, show_results
from touchstone.errors import ExitCode, UsageError
from touchstone.gate.measure import ask_run, unanswered
from touchstone.gate.start import Order, start_run


@click.command(
    epilog="Example: touchstone eval --pack packs/starter.yaml --base-url http://127.0.0.1:1234/v1 --model M"
)
@click.option("--pack", "packs", multiple=True, metavar="PACK", help="Pack file, folder or id; repeatable.")
@narrowing_options
@click.option("--draw", type=click.IntRange(min=0), default=0, help="Which draw this is (shifts the seeds).")
@click.option("--resume", metavar="RUN", help="Go on with a run: ask what is still open.")
@click.option("--strict-preflight", is_flag=True, help="Stop where a model fails its longest prompt.")
@settings_options(asks=True)
@json_option
@quiet_option
def command(
    *,
    packs: tuple[str, ...],
    only: tuple[str, ...],
    limit: int | None,
    draw: int,
    resume: str | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Ask every prompt of a pack and keep every answer.

    Every answer is written when it arrives; an interrupted run goes on with --resume.
    """
    if resume and (packs or only or limit or draw):
        raise UsageError(
            "--resume goes on with a run as it was started: leave out the other flags of a start"
        )
    effective = settings_of(given)
    with bench_for(effective, given, go_on="touchstone eval --resume") as bench:
        if resume:
            bundles = [resumed(resume, bench)]
        else:
            loaded = packs_of(effective, packs, Path.cwd())
            bundles = [start_run(bench, Order(pack, draw, only, limit)) for pack in loaded]
        results = [ask_run(bench, bundle) for bundle in bundles]
    show_results(bundles, results, as_json=as_json, language=effective.config.language)
    return ExitCode.NOT_JUDGED if any(map(unanswered, results)) else ExitCode.NOTHING_WORSE
