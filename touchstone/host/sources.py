"""Where each reading comes from on which system: run the command or read the file, then parse."""

from __future__ import annotations

import contextlib
from pathlib import Path

from touchstone.host.command import text_of
from touchstone.host.readers import linux, pmset, sysctl

_PRESSURE_FILE = Path("/proc/pressure/memory")

# The sampler reads these between two ticks, so a command that hangs may not hold it up for long.
_TIMEOUT_S = 1.0


def pressure(system: str) -> str | None:
    """Memory pressure now: normal, warn, critical, other:…, or None where it cannot be read."""
    if system == "darwin":
        return sysctl.pressure_of(sysctl_value(sysctl.PRESSURE))
    return linux.stall_of(file_text(_PRESSURE_FILE))


def power(system: str) -> str | None:
    """What the machine runs on now: ac, battery, other:…, or None where it cannot be read."""
    if system == "darwin":
        return pmset.power_source_of(text_of("pmset", "-g", "batt", timeout_s=_TIMEOUT_S)).power
    return _plugged()


def speed_limit(system: str) -> int | None:
    """Per cent of full speed the chip is held to, where the system says so without root."""
    if system != "darwin":
        return None
    return pmset.speed_limit_of(text_of("pmset", "-g", "therm", timeout_s=_TIMEOUT_S))


def sysctl_value(name: str) -> str | None:
    """One kernel value by its name, asked alone: no other value can take its place."""
    return sysctl.values_by_name(text_of("sysctl", name, timeout_s=_TIMEOUT_S)).get(name)


def file_text(path: Path) -> str:
    """A system file's text, empty where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _plugged() -> str | None:
    import psutil  # noqa: PLC0415 - only a run pays for it

    battery = None
    with contextlib.suppress(OSError):
        battery = psutil.sensors_battery()
    if battery is None or battery.power_plugged is None:
        return None
    return "ac" if battery.power_plugged else "battery"
