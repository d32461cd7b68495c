"""Progress on stderr: a bar with an ETA on a terminal, one plain line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Protocol, Self

import click

PLAIN_EVERY_S = 5.0


class Progress(Protocol):
    """A phase that counts up."""

    def update(self, done: int, planned: int, note: str) -> None:
        """Show where it stands."""

    def close(self) -> None:
        """The phase is over."""


class Silent:
    """Shows nothing."""

    def update(self, done: int, planned: int, note: str) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class Plain:
    """One line every few seconds, and one at the end: for logs."""

    def __init__(self, phase: str) -> None:
        self._phase = phase
        self._started = self._shown = time.monotonic()
        self._last = ""

    def update(self, done: int, planned: int, note: str) -> None:
        """Print a line if the last one is old enough."""
        now = time.monotonic()
        left = (now - self._started) / max(done, 1) * (planned - done)
        self._last = f"{self._phase} {done}/{planned}{note}"
        if now - self._shown >= PLAIN_EVERY_S and done < planned:
            self._shown = now
            click.echo(f"{self._last}, about {_minutes(left)} left", err=True)

    def close(self) -> None:
        """The last word of the phase."""
        if self._last:
            click.echo(self._last, err=True)
            self._last = ""


class Bar:
    """A bar on a terminal."""

    def __init__(self, phase: str) -> None:
        from rich.console import Console  # noqa: PLC0415  heavy, and only for terminals
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415
        from rich.progress import Progress as RichProgress  # noqa: PLC0415

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:.0f}/{task.total:.0f}{task.fields[note]}", markup=False),
            TimeRemainingColumn(),
            console=Console(file=sys.stderr),
        )
        self._task = self._bar.add_task(phase, total=1, note="")
        self._bar.start()

    def update(self, done: int, planned: int, note: str) -> None:
        """Move the bar."""
        self._bar.update(self._task, completed=done, total=planned, note=note)

    def close(self) -> None:
        """Leave the bar as it stands."""
        self._bar.stop()


class Phases:
    """The progress of one phase after another; a context manager, so that a bar never outlives an error."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._name = ""
        self._shown: Progress = Silent()

    def update(self, phase: str, done: int, planned: int, note: str = "") -> None:
        """Show where a phase stands; a new phase ends the one before."""
        if phase != self._name:
            self._shown.close()
            self._name, self._shown = phase, self._new(phase)
        self._shown.update(done, planned, note)

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
        return Bar(phase) if sys.stderr.isatty() else Plain(phase)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
