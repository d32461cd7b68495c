"""What the machine did while each answer was made: ticks laid over time windows. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, Generic, TypeVar

from touchstone.host.readers.words import POWER_WORDS, PRESSURE_WORDS, THERMAL_WORDS, worst_of
from touchstone.host.tick import Tick

TOLERANCE_S = 0.5
"""Ticks this far outside a window still count as inside."""

NEAREST_MAX_S = 5.0
"""With no tick inside, the nearest one speaks for the window, but not from farther away than this."""

JUMP_S = 1.0
"""Between two ticks, wall clock and monotonic clock may part by this much and no more."""

HOLE_S = 10.0
"""Two ticks of one start farther apart than this: the machine, or at least the sampler, stood still."""

_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class Window(Generic[_Key]):
    """One answer's time, in seconds since the epoch; None where the answer has no times."""

    key: _Key
    t_start: float | None
    t_end: float | None


@dataclass(frozen=True, slots=True)
class WindowFacts(Generic[_Key]):
    """What was measured in one window. None is "not measured", also in the three flags.

    Memory in MiB: `sys_used_mb` the most in the window, the deltas against the baseline tick. Words are
    the worst in the window. `slept` is true where the machine slept or its clock jumped; then nothing
    else is known.
    """

    key: _Key
    sys_used_mb: float | None = None
    sys_used_baseline_mb: float | None = None
    sys_used_delta_mb: float | None = None
    swap_delta_mb: float | None = None
    pressure: str | None = None
    thermal: str | None = None
    power: str | None = None
    throttled: bool | None = None
    on_battery: bool | None = None
    slept: bool | None = None

    @property
    def is_fit_for_timing(self) -> bool:
        """Whether nothing speaks against this answer's times; an unmeasured machine does not."""
        return not (self.throttled or self.on_battery or self.slept)

    def measured(self) -> dict[str, Any]:
        """Every field but the key, as plain JSON values."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name != "key"}


@dataclass(frozen=True)
class WorstWords:
    """The worst word read over some windows; None where none was."""

    pressure: str | None
    thermal: str | None
    power: str | None


@dataclass(frozen=True)
class MemoryPeak:
    """The most memory the system used over some windows, and above the baseline tick; MiB."""

    peak_mb: float | None
    delta_mb: float | None


def merge_windows(ticks: Sequence[Tick], windows: Sequence[Window[_Key]]) -> list[WindowFacts[_Key]]:
    """The facts of each window, in the windows' order. `ticks` are in the order of writing."""
    timeline = _Timeline(ticks)
    return [_facts(timeline, window) for window in windows]


def peak_of(facts: Iterable[WindowFacts[_Key]]) -> MemoryPeak:
    """The peak over the windows of a cell; None where none of them was measured."""
    used = list(facts)
    return MemoryPeak(
        peak_mb=_most(item.sys_used_mb for item in used),
        delta_mb=_most(item.sys_used_delta_mb for item in used),
    )


def worst_words_of(facts: Iterable[WindowFacts[_Key]]) -> WorstWords:
    """The worst the machine was in over the windows of a cell."""
    seen = list(facts)
    return WorstWords(
        pressure=worst_of((item.pressure for item in seen), PRESSURE_WORDS),
        thermal=worst_of((item.thermal for item in seen), THERMAL_WORDS),
        power=worst_of((item.power for item in seen), POWER_WORDS),
    )


class _Timeline:
    """Ticks by time, their baselines, and the stretches of time in which no clock can be trusted."""

    def __init__(self, ticks: Sequence[Tick]) -> None:
        pairs = sorted(zip(ticks, _baselines(ticks), strict=True), key=lambda pair: pair[0].ts)
        self.ticks = [tick for tick, _ in pairs]
        self.baselines = [baseline for _, baseline in pairs]
        self.times = [tick.ts for tick in self.ticks]
        self.breaks = [_stretch(*pair) for pair in pairwise(ticks) if _is_break(*pair)]

    def near(self, start: float, end: float) -> range:
        """Positions of the ticks that speak for a window: those inside, else the nearest."""
        inside = range(
            bisect_left(self.times, start - TOLERANCE_S), bisect_right(self.times, end + TOLERANCE_S)
        )
        if inside or not self.times:
            return inside
        after = inside.start
        candidates = [at for at in (after - 1, after) if 0 <= at < len(self.times)]
        nearest = min(candidates, key=lambda at: max(start - self.times[at], self.times[at] - end))
        distance = max(start - self.times[nearest], self.times[nearest] - end)
        return range(nearest, nearest + 1) if distance <= NEAREST_MAX_S else range(0)

    def is_broken(self, start: float, end: float) -> bool:
        """Whether the window touches a stretch in which the machine slept or its clock jumped."""
        return any(start < stop and end > begin for begin, stop in self.breaks)


def _facts(timeline: _Timeline, window: Window[_Key]) -> WindowFacts[_Key]:
    start, end = window.t_start, window.t_end
    if start is None or end is None or not timeline.ticks:
        return WindowFacts(window.key)
    if end < start or timeline.is_broken(start, end):
        return WindowFacts(window.key, slept=True)
    near = timeline.near(start, end)
    if not near:
        return WindowFacts(window.key)
    return _measured(window.key, [timeline.ticks[at] for at in near], timeline.baselines[near.start])


def _measured(key: _Key, ticks: Sequence[Tick], baseline: Tick) -> WindowFacts[_Key]:
    used = _most(tick.sys_used_mb for tick in ticks)
    swap = _most(tick.swap_used_mb for tick in ticks)
    thermal = worst_of((tick.thermal for tick in ticks), THERMAL_WORDS)
    power = worst_of((tick.power for tick in ticks), POWER_WORDS)
    return WindowFacts(
        key,
        sys_used_mb=used,
        sys_used_baseline_mb=baseline.sys_used_mb,
        sys_used_delta_mb=_difference(used, baseline.sys_used_mb),
        swap_delta_mb=_difference(swap, baseline.swap_used_mb),
        pressure=worst_of((tick.pressure for tick in ticks), PRESSURE_WORDS),
        thermal=thermal,
        power=power,
        throttled=None if thermal is None else thermal != THERMAL_WORDS[0],
        on_battery=None if power is None else power == "battery",
        slept=False,
    )


def _baselines(ticks: Sequence[Tick]) -> list[Tick]:
    """The baseline of each tick: the very first, or the first after a reboot.

    A resumed run keeps the first one, taken before the model was loaded. A monotonic clock that went
    backwards means the machine was started anew, and with it everything else that uses memory.
    """
    baselines: list[Tick] = []
    last: Tick | None = None
    for tick in ticks:
        fresh = last is None or (tick.start and tick.monotonic < last.monotonic)
        baselines.append(tick if fresh else baselines[-1])
        last = tick
    return baselines


def _is_break(before: Tick, after: Tick) -> bool:
    wall_s, running_s = after.ts - before.ts, after.monotonic - before.monotonic
    if wall_s < 0:
        return True
    if after.start:
        return False  # between two starts there is nothing to lose
    return abs(wall_s - running_s) > JUMP_S or wall_s > HOLE_S


def _stretch(before: Tick, after: Tick) -> tuple[float, float]:
    return min(before.ts, after.ts), max(before.ts, after.ts)


def _most(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _difference(value: float | None, baseline: float | None) -> float | None:
    return None if value is None or baseline is None else value - baseline
