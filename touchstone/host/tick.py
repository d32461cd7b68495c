"""One reading of the machine: a line of `resources.jsonl`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from touchstone.errors import BadInputError
from touchstone.files import read_jsonl


@dataclass(frozen=True)
class Tick:
    """The machine at one moment; None is "could not be read", never "fine".

    `ts` is seconds since the epoch, `monotonic` seconds on a clock that stands still during sleep: where
    the two move apart the machine slept or its clock was set. Memory is in MiB; used and available add
    up to what is built in, so memory-mapped files that can be dropped count as available. `cpu_pct` is
    the share of all cores since the tick before.
    """

    ts: float
    monotonic: float
    sys_used_mb: float | None = None
    sys_available_mb: float | None = None
    swap_used_mb: float | None = None
    cpu_pct: float | None = None
    pressure: str | None = None
    thermal: str | None = None
    power: str | None = None
    start: bool = False
    """The first tick of a start of the sampler; a resumed run has several."""

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        return asdict(self)


def read_ticks(path: Path) -> list[Tick]:
    """The ticks of a file in the order of writing; none where there is no file.

    A line cut off at the end is passed over; any other bad line is a BadInputError naming it.
    """
    return [_tick_of(record, f"{path}:{number}") for number, record in read_jsonl(path)]


def _tick_of(record: Any, source: str) -> Tick:
    """A record as a tick. Fields of a later version are passed over, missing ones are None."""
    if not isinstance(record, Mapping):
        raise BadInputError(f"{source}: not a tick: an object is due")
    ts, monotonic = _number(record.get("ts")), _number(record.get("monotonic"))
    if ts is None or monotonic is None:
        raise BadInputError(f"{source}: not a tick: `ts` and `monotonic` must be numbers")
    return Tick(
        ts=ts,
        monotonic=monotonic,
        sys_used_mb=_number(record.get("sys_used_mb")),
        sys_available_mb=_number(record.get("sys_available_mb")),
        swap_used_mb=_number(record.get("swap_used_mb")),
        cpu_pct=_number(record.get("cpu_pct")),
        pressure=_word(record.get("pressure")),
        thermal=_word(record.get("thermal")),
        power=_word(record.get("power")),
        start=record.get("start") is True,
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
