"""The sampler's own process: writes ticks until its standard input closes.

    python -P -m touchstone.host.ticker RESOURCES_FILE SYSTEM POWER_EVERY_S

Standard input is a pipe whose other end the run holds, so it closes however the run ends. Standard
output carries what cannot be measured, a sentence per line, then an empty line once the first tick is
in the file, and later at most one line on why the ticks ended early. One thread waits for everything.
"""

from __future__ import annotations

import contextlib
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psutil

from touchstone.errors import TouchstoneError
from touchstone.files import JsonlAppender
from touchstone.host import sources
from touchstone.host.readers.pmset import thermal_of_limit
from touchstone.host.readers.powermetrics import is_permission
from touchstone.host.thermal import SUDO_REMEDY, ThermalStream
from touchstone.host.tick import Tick

TICK_S = 0.5
PRESSURE_S = 1.0
SETTLE_S = 5.0
"""How long the first tick waits for the first thermal level; powermetrics needs a second for it."""

_STDIN = 0
_BYTES_PER_MB = 2**20

_Memory = TypeVar("_Memory")


def main(arguments: Sequence[str]) -> int:
    """Write ticks to the end of the file until standard input closes."""
    path, system, power_every_s = arguments
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # both are the run's to answer; it then closes the pipe
    try:
        with JsonlAppender(Path(path)) as ticks, ThermalStream(system) as thermal:
            _write_ticks(ticks, thermal, Readings(system, float(power_every_s)))
    except TouchstoneError as error:
        _say(f"The resource ticks ended early ({error.message}): later memory and power figures are n/a.")
        return 1
    return 0


@dataclass
class Paced:
    """A reading that is taken anew only every so many seconds; in between it stays what it was."""

    read: Callable[[str], str | None]
    every_s: float
    due: float = 0.0
    word: str | None = None

    def at(self, now: float, system: str) -> str | None:
        """The word in force at `now`, of a monotonic clock."""
        if now >= self.due:
            self.word, self.due = self.read(system), now + self.every_s
        return self.word


class Readings:
    """All readings of one machine, each at its own pace."""

    def __init__(self, system: str, power_every_s: float) -> None:
        self._system = system
        self._pressure = Paced(sources.pressure, PRESSURE_S)
        self._power = Paced(sources.power, power_every_s)
        self._speed_limit = Paced(_thermal_of_speed_limit, power_every_s)
        psutil.cpu_percent()  # the first call has nothing to compare with

    def tick(self, thermal: ThermalStream, start: bool) -> Tick:
        """One tick, now. Without powermetrics, Intel's speed limit speaks for the thermal level."""
        now = time.monotonic()
        pressure = self._pressure.at(now, self._system)
        power = self._power.at(now, self._system)
        limit = self._speed_limit.at(now, self._system) if thermal.refusal else None
        memory, swap = _read(psutil.virtual_memory), _read(psutil.swap_memory)
        return Tick(
            ts=time.time(),
            monotonic=time.monotonic(),
            sys_used_mb=_megabytes(memory.total - memory.available) if memory else None,
            sys_available_mb=_megabytes(memory.available) if memory else None,
            swap_used_mb=_megabytes(swap.used) if swap else None,
            cpu_pct=None if start else psutil.cpu_percent(),
            pressure=pressure,
            thermal=limit if thermal.refusal else thermal.word(now),
            power=power,
            start=start,
        )


def _write_ticks(ticks: JsonlAppender, thermal: ThermalStream, readings: Readings) -> None:
    if not _wait(SETTLE_S, thermal, until_settled=True):
        return
    first = readings.tick(thermal, start=True)
    ticks.append(first.to_json())
    _say(*_absences(first, thermal.refusal), "")
    due = time.monotonic() + TICK_S
    while _wait(due - time.monotonic(), thermal):
        ticks.append(readings.tick(thermal, start=False).to_json())
        due = max(due + TICK_S, time.monotonic())


def _wait(seconds: float, thermal: ThermalStream, until_settled: bool = False) -> bool:
    """Wait while taking in the thermal stream; False as soon as the run is gone."""
    end = time.monotonic() + seconds
    while True:
        left = end - time.monotonic()
        if until_settled and thermal.is_settled:
            left = 0.0
        stream = [] if thermal.descriptor is None else [thermal.descriptor]
        ready, _, _ = select.select([_STDIN, *stream], [], [], max(left, 0.0))
        if _STDIN in ready:
            return False
        if ready:
            thermal.feed(time.monotonic())
        elif left <= 0:
            return True


def _absences(tick: Tick, refusal: str | None) -> list[str]:
    """What this machine does not tell, in at most one line."""
    readings = {
        "memory": tick.sys_used_mb,
        "memory pressure": tick.pressure,
        f"thermal level ({refusal})" if refusal else "thermal level": tick.thermal,
        "power source": tick.power,
    }
    absent = [name for name, value in readings.items() if value is None]
    if not absent:
        return []
    remedy = f" {SUDO_REMEDY}" if tick.thermal is None and is_permission(refusal) else ""
    return [f"Not measured on this machine, shown as n/a: {', '.join(absent)}.{remedy}"]


def _thermal_of_speed_limit(system: str) -> str | None:
    return thermal_of_limit(sources.speed_limit(system))


def _read(memory: Callable[[], _Memory]) -> _Memory | None:
    # A sandbox may forbid either; psutil lets the system's error through.
    try:
        return memory()
    except (OSError, RuntimeError):
        return None


def _megabytes(amount: int) -> float:
    return round(amount / _BYTES_PER_MB, 1)


def _say(*lines: str) -> None:
    with contextlib.suppress(BrokenPipeError):  # the run is gone, as standard input will tell
        print(*lines, sep="\n", flush=True)  # noqa: T201 - the run reads this pipe


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
