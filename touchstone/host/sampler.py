"""Watching the machine while a run goes on, from the run's side."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from touchstone.host.command import environment, this_system

FIRST_TICK_S = 15.0
"""How long to wait for the first tick. It is the baseline, so nothing is loaded before it."""

_Process = subprocess.Popen[bytes]

_END_S = 3.0
_NOT_STARTED = "The resource sampler did not start: memory, pressure, thermal and power are n/a."
_ENDED_EARLY = "The resource sampler ended before the run: later memory and power figures are n/a."


class Sampler:
    """The sampler of one run. `notes` are sentences to print once; they may grow on closing."""

    def __init__(self, process: _Process | None, awake: _Process | None) -> None:
        self.notes: list[str] = []
        self._process = process
        self._awake = awake

    def close(self) -> None:
        """End the sampler's processes and wait for them; a second call does nothing."""
        process, self._process = self._process, None
        awake, self._awake = self._awake, None
        if process is not None:
            self.notes += _end(process)
        if awake is not None:
            awake.terminate()
            awake.wait()

    def __enter__(self) -> Sampler:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


def start_sampler(path: Path, system: str | None = None, power_every_s: float = 30.0) -> Sampler:
    """Start appending ticks to `path`, in a process that ends with this one, however this one ends.

    The power source is asked for every `power_every_s`; the other readings have one pace (`ticker`).
    Returns when the first tick, the baseline, is in the file. Never raises: a machine that cannot be
    watched is a note, and its figures are n/a. On a Mac this also keeps the machine from falling asleep.
    """
    where = system or this_system()
    awake = _caffeinate() if where == "darwin" else None
    process = _spawn(path, where, power_every_s)
    notes = [_NOT_STARTED] if process is None else _notes_until_first_tick(process)
    if process is not None and _NOT_STARTED in notes:
        _end(process)
        process = None
    sampler = Sampler(process, awake)
    sampler.notes += [*notes, _awake_note(awake)] if where == "darwin" else notes
    return sampler


def _without_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """What the ticker's Python needs; no key and no token of the run."""
    wanted = ("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "VIRTUAL_ENV")
    return {
        name: text for name, text in environ.items() if name in wanted or name.startswith(("PYTHON", "LC_"))
    }


def _spawn(path: Path, system: str, power_every_s: float) -> _Process | None:
    # -P: the folder a run is started in may hold anything, and must not be imported from.
    ticker = ["-P", "-m", "touchstone.host.ticker", str(path.absolute()), system, str(power_every_s)]
    try:
        return subprocess.Popen(
            [sys.executable, *ticker],
            env=_without_secrets(os.environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
    except OSError:
        return None


def _caffeinate() -> _Process | None:
    try:
        return subprocess.Popen(
            ["caffeinate", "-i", "-w", str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(os.environ),
        )
    except OSError:
        return None


def _awake_note(awake: _Process | None) -> str:
    if awake is None or awake.poll() is not None:
        return "caffeinate did not start. If this Mac falls asleep, the answer of that moment has no timing."
    return f"This Mac is kept awake while the run lasts (caffeinate -i -w {os.getpid()})."


def _notes_until_first_tick(process: _Process) -> list[str]:
    """The sentences before the empty line that says the first tick is written."""
    end, said = time.monotonic() + FIRST_TICK_S, b""
    while not (said == b"\n" or said.endswith(b"\n\n")):
        chunk = _read_before(end, process)
        if not chunk:
            return [*_sentences(said), _NOT_STARTED]
        said += chunk
    return _sentences(said)


def _read_before(end: float, process: _Process) -> bytes:
    assert process.stdout is not None  # noqa: S101 - asked for when it was started
    ready, _, _ = select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))
    return os.read(process.stdout.fileno(), 4096) if ready else b""


def _end(process: _Process) -> list[str]:
    """Close the pipe the process lives by; what it still had to say."""
    was_running = process.poll() is None
    try:
        said, _ = process.communicate(timeout=_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        said, _ = process.communicate()
    notes = _sentences(said)
    return notes if was_running or notes else [_ENDED_EARLY]


def _sentences(said: bytes) -> list[str]:
    return [line for line in said.decode("utf-8", errors="replace").splitlines() if line]
