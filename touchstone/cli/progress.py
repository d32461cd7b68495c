"""Progress on stderr: a bar with an ETA on a terminal, one plain line every few seconds elsewhere."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Protocol, Self

import click

from touchstone.render.plain import for_log
from touchstone.render.progress import time_left
from touchstone.render.words import Words

PLAIN_EVERY_S = 5.0
BAR_COLUMNS = 16
"""Leaves room for the counts and a model's name in 80 columns."""


class Progress(Protocol):
    """A phase that counts up."""

    def update(self, done: int, planned: int, note: str) -> None:
        """Show where it stands."""

    def wait(self, why: str) -> None:
        """Show what it waits for."""

    def close(self) -> None:
        """The phase is over."""


class Silent:
    """Shows nothing."""

    def update(self, done: int, planned: int, note: str) -> None:
        """Nothing."""

    def wait(self, why: str) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class Plain:
    """One line every few seconds, and one at the end: for logs."""

    def __init__(self, phase: str, words: Words) -> None:
        self._phase = phase
        self._words = words
        self._started = self._shown = time.monotonic()
        self._before: int | None = None
        self._last = ""

    def update(self, done: int, planned: int, note: str) -> None:
        """Print a line if the last one is old enough."""
        now = time.monotonic()
        # The clock starts with the first one told: what was done by then says nothing of the speed.
        self._before = done if self._before is None else self._before
        left_s = (now - self._started) / max(done - self._before, 1) * (planned - done)
        self._last = f"{self._phase} {done}/{planned} · {note}"
        if done >= planned:
            # At once, not when the phase is closed: what is said between two phases would come before it.
            self.close()
        elif now - self._shown >= PLAIN_EVERY_S:
            self._shown = now
            click.echo(for_log(f"{self._last}, {time_left(left_s, self._words)}"), err=True)

    def wait(self, why: str) -> None:
        """Print what it waits for."""
        click.echo(for_log(why), err=True)

    def close(self) -> None:
        """The last word of the phase."""
        if self._last:
            click.echo(for_log(self._last), err=True)
            self._last = ""


class Bar:
    """A bar on a terminal."""

    def __init__(self, phase: str) -> None:
        from rich.console import Console  # noqa: PLC0415  heavy, and only for terminals
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415
        from rich.progress import Progress as RichProgress  # noqa: PLC0415

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(BAR_COLUMNS),
            TextColumn("{task.completed:.0f}/{task.total:.0f}"),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[note]}", markup=False),
            console=Console(file=sys.stderr),
        )
        self._task = self._bar.add_task(phase, total=1, note="")
        self._bar.start()

    def update(self, done: int, planned: int, note: str) -> None:
        """Move the bar."""
        self._bar.update(self._task, completed=done, total=planned, note=note)

    def wait(self, why: str) -> None:
        """Say what it waits for beside the bar."""
        self._bar.update(self._task, note=why, refresh=True)

    def close(self) -> None:
        """Leave the bar as it stands."""
        self._bar.stop()


class Phases:
    """The progress of one phase after another; a context manager, so that a bar never outlives an error."""

    def __init__(self, quiet: bool, words: Words | None = None) -> None:
        self._quiet = quiet
        self._words = words or Words()
        self._name = ""
        self._shown: Progress = Silent()

    def update(self, phase: str, done: int, planned: int, note: str = "") -> None:
        """Show where a phase stands; a new phase ends the one before."""
        if phase != self._name:
            self._shown.close()
            self._name, self._shown = phase, self._new(phase)
        self._shown.update(done, planned, note)
        if done >= planned:
            # Before anything else is said: a bar that is still drawn would be written over.
            self.close()

    def say(self, text: str) -> None:
        """A note, on a line of its own; nothing where quiet was asked for."""
        if not self._quiet:
            self.warn(text)

    def warn(self, text: str) -> None:
        """A line of its own. A bar that is drawn is left as it stands first, and begun anew below."""
        if isinstance(self._shown, Bar):
            self.close()
        click.echo(for_log(text), err=True)

    def wait(self, why: str, *, ends_phase: bool = False) -> None:
        """Show what is waited for, beside the phase that is shown or on a line of its own."""
        if ends_phase:
            self.close()
        if self._name:
            self._shown.wait(why)
        elif not self._quiet:
            click.echo(for_log(why), err=True)

    def close(self) -> None:
        """End the phase that is shown."""
        self._shown.close()
        self._name, self._shown = "", Silent()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _new(self, phase: str) -> Progress:
        if self._quiet:
            return Silent()
        return Bar(phase) if _draws() else Plain(phase, self._words)


def _draws() -> bool:
    """Whether a line on stderr can be written over."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
