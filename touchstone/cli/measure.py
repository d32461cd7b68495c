"""`touchstone measure`: eval and judge in one go, once or three times."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from touchstone.cli.options import part_of, refuse_mixed_start, run_options
from touchstone.cli.session import (
    bench_for,
    packs_of,
    resumed,
    say,
    settings_of,
    show_results,
    warn_unpromotable,
)
from touchstone.errors import EngineError, ExitCode, InterruptedRunError, UsageError
from touchstone.gate.bench import Bench
from touchstone.gate.measure import ask_run, judge_run, unjudged
from touchstone.gate.start import Order, start_run
from touchstone.pack.load import LoadedPack
from touchstone.render.plain import one_line
from touchstone.render.progress import progress_phrase
from touchstone.render.words import Words
from touchstone.result.schema import ResultDoc
from touchstone.run.bundle import Bundle
from touchstone.run.plan import Part

_SHELL_WORDS = frozenset({"&&", "||", ";", "|", ">", ">>", "<", "&"})


@click.command(
    epilog="Example: touchstone measure --pack packs/starter.yaml --times 3 --between './restart.sh'"
)
@click.option(
    "--times", type=click.IntRange(min=1, max=99), default=1, help="So many runs (draws 0, 1, 2 …)."
)
@click.option("--between", metavar="CMD", help="Between runs, do this: restart the engine.")
@run_options(resumes="Go on with a run: ask and judge what is still open; repeatable.")
def command(*, times: int, between: str | None, as_json: bool, **given: Any) -> int:
    """Ask and judge: eval and judge in one go.

    --times 3 makes the three runs a promotion rests on. The embedded engine is restarted between them by
    itself; for another engine give its restart with --between.
    """
    refuse_mixed_start(given, times > 1, between)
    restart = command_of(between) if between is not None else None
    effective = settings_of(given)
    with bench_for(effective, given) as bench:
        if given["runs"]:
            bundles = [resumed(name, bench) for name in given["runs"]]
            results = [_measured(bench, bundle) for bundle in bundles]
        else:
            loaded = packs_of(effective, given["packs"], Path.cwd())
            bundles, results = _measure_times(bench, loaded, part_of(given), times, restart)
    show_results(bundles, results, as_json=as_json, language=effective.config.language)
    silent = [
        unjudged(result, bundle.manifest.suite) for bundle, result in zip(bundles, results, strict=True)
    ]
    return ExitCode.NOT_JUDGED if any(silent) else ExitCode.NOTHING_WORSE


def _measure_times(
    bench: Bench, packs: list[LoadedPack], part: Part, times: int, restart: list[str] | None
) -> tuple[list[Bundle], list[ResultDoc]]:
    words = Words(bench.config.language)
    bundles: list[Bundle] = []
    results: list[ResultDoc] = []
    for draw in range(times):
        if draw:
            _restart_engine(bench, restart)
        for loaded in packs:
            bundle = start_run(bench, Order(loaded, draw, part))
            bench.say(progress_phrase(words, "run_of", n=draw + 1, of=times, run=bundle.id))
            if draw == 0:
                warn_unpromotable(bundle)
            bundles.append(bundle)
            results.append(_measured(bench, bundle))
    return bundles, results


def _measured(bench: Bench, bundle: Bundle) -> ResultDoc:
    ask_run(bench, bundle)
    return judge_run(bench, bundle)


def command_of(text: str) -> list[str]:
    """A command line as words, for a process without a shell. UsageError where it cannot be started."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--between {text!r}: {str(error).lower()}") from None
    if not words or shutil.which(words[0]) is None:
        raise UsageError(
            f"--between {text!r}: no such command", "Give a program and its arguments; no shell reads it."
        )
    strange = [word for word in words if word in _SHELL_WORDS]
    if strange:
        raise UsageError(
            f"--between {text!r}: {strange[0]} means nothing without a shell",
            f"Write: sh -c {shlex.quote(text)}",
        )
    return words


def _restart_engine(bench: Bench, command: list[str] | None) -> None:
    """Another launch of the engine, so that runs do not share one launch's accidents."""
    if command is None:
        _restart_embedded_engine(bench)
        return
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if bench.stop.is_set():
        raise InterruptedRunError(
            "stopped between two runs", "The runs made so far are kept: touchstone list"
        )
    if done.returncode != 0:
        said = one_line(done.stderr or done.stdout, 200)
        raise EngineError(
            f"--between {shlex.join(command)} ended with exit code {done.returncode}: {said}",
            "The runs made so far are kept.",
        )


def _restart_embedded_engine(bench: Bench) -> None:
    from touchstone.demo import engine  # noqa: PLC0415  only where the embedded engine may be meant
    from touchstone.demo.model import cache_folder  # noqa: PLC0415

    cache = cache_folder(bench.environ, sys.platform, Path.home())
    running = engine.status(cache)
    if running is not None and bench.config.endpoint.base_url == running.base_url:
        engine.restart(cache, bench.say)
    else:
        say("the runs share one launch of the engine; give its restart with --between")
