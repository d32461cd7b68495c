"""The one boundary: every way out of touchstone becomes an exit code and a message here.

Python's own exit code 1 would read as "worse", so nothing gets past this module.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from types import FrameType
from typing import Any, TextIO

import click

from touchstone import __version__
from touchstone.errors import ExitCode, TouchstoneError


def run(argv: Sequence[str]) -> int:
    """Run one command line; returns the exit code, never raises."""
    try:
        _prepare_streams()
        signal.signal(signal.SIGTERM, _interrupt)
        code = _dispatch(argv)
        sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001  the outermost boundary: a bug must not leave as exit 1
        return ended_by(error)
    return code


def ended_by(error: BaseException) -> int:
    """Say what an exception means to the person at the command line; the exit code it stands for."""
    code: int
    match error:
        case TouchstoneError():
            code = _say(error.message, error.hint, error.exit_code)
        case click.exceptions.Exit():
            code = error.exit_code
        case click.FileError():
            code = _say(error.format_message(), None, ExitCode.REFUSED)
        case click.ClickException():
            error.show()
            code = ExitCode.USAGE
        case click.Abort() | KeyboardInterrupt():
            code = _say("interrupted", None, ExitCode.INTERRUPTED)
        case BrokenPipeError():
            code = _quiet_pipe()
        case SystemExit():
            # click leaves like this when its output's reader is gone, and after a completion script.
            code = _quiet_pipe() if error.code else ExitCode.NOTHING_WORSE
        case OSError():
            code = _no_bug_of_ours(error)
        case _:
            code = _bug(error)
    return code


def _dispatch(argv: Sequence[str]) -> int:
    from touchstone.cli.main import touchstone  # noqa: PLC0415  a broken import is caught by `run` too

    outcome: Any = touchstone.main(list(argv), prog_name="touchstone", standalone_mode=False)
    return int(outcome or 0)


def _say(message: str, hint: str | None, code: ExitCode) -> int:
    from touchstone.render.plain import visible  # noqa: PLC0415  only needed when something went wrong

    click.echo(f"touchstone: {visible(message)}", err=True)
    if hint:
        click.echo(f"  → {visible(hint)}", err=True)
    return code


def _bug(error: BaseException) -> int:
    click.echo("".join(traceback.format_exception(error)), err=True)
    click.echo(
        f"touchstone: this is a bug in touchstone {__version__}, not in your files.\n"
        f"  → Please report it with the command, the lines above, and the output of: touchstone --version\n"
        f"    (Python {sys.version.split()[0]} on {sys.platform})",
        err=True,
    )
    return ExitCode.BUG


def _no_bug_of_ours(error: OSError) -> int:
    """A full disk, a missing right, a vanished folder: what the system refused, and where."""
    where = f"{error.filename}: " if error.filename else ""
    code = _say(
        f"{where}{error.strerror or error}", "Make room, or mend the rights, and try again.", ExitCode.REFUSED
    )
    _drop_output()
    return code


def _quiet_pipe() -> int:
    """The reader went away; nothing more to say to it."""
    _drop_output()
    return ExitCode.INTERRUPTED


def _drop_output() -> None:
    """What could not be written is not tried again when Python shuts down."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _prepare_streams() -> None:
    """Closed streams lead nowhere; characters a terminal does not know are escaped."""
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _nowhere() -> TextIO:
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8", closefd=False)
