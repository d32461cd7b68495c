"""`pmset -g batt` (where the power comes from) and `pmset -g therm` (Intel's speed limit)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from touchstone.host.readers.words import other

_SOURCE = re.compile(r"^Now drawing from '([^']*)'", re.MULTILINE)
_BATTERY = re.compile(r"^ -\S+ .*?(\d{1,3})%; ([^;\n]*); (.*?)(?: present: \w+)?$", re.MULTILINE)
_SPEED_LIMIT = re.compile(r"\bCPU_Speed_Limit\s*=\s*(\d+)")
_POWER = {"AC Power": "ac", "Battery Power": "battery"}


@dataclass(frozen=True)
class PowerSource:
    """The source word, and of the battery, where there is one, its charge, state and time as written."""

    power: str | None
    battery_pct: int | None
    state: str | None
    time: str | None


def power_source_of(text: str) -> PowerSource:
    """`pmset -g batt`; a desktop has the first line only."""
    source, battery = _SOURCE.search(text), _BATTERY.search(text)
    return PowerSource(
        power=_POWER.get(source[1], other(source[1])) if source else None,
        battery_pct=int(battery[1]) if battery else None,
        state=battery[2].strip() if battery else None,
        time=battery[3].strip() if battery else None,
    )


def speed_limit_of(text: str) -> int | None:
    """`pmset -g therm`: per cent of full speed, on Intel.

    Apple silicon writes three "not recorded" notes even while it throttles, so they say nothing: None.
    """
    limit = _SPEED_LIMIT.search(text)
    return int(limit[1]) if limit else None


def thermal_of_limit(limit_pct: int | None) -> str | None:
    """A speed limit as a thermal word; None stays None."""
    if limit_pct is None:
        return None
    return "nominal" if limit_pct >= 100 else other(f"speed limit {limit_pct} %")
