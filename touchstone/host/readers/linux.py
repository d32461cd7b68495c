"""The files Linux tells about itself in: /proc/cpuinfo, /proc/meminfo, /proc/pressure, /etc/os-release."""

from __future__ import annotations

import re
import shlex

# Shares of the last ten seconds. A tenth of the time with some task waiting for memory is felt as
# slowness; a tenth with every task waiting is thrashing.
WARN_SOME_PCT = 10.0
CRITICAL_FULL_PCT = 10.0

# In this order: x86 names the chip, some Arm boards name it or only themselves, most Arm servers neither.
_CHIP_LABELS = ("model name", "Hardware", "Model")
_STALL = re.compile(r"^(some|full) .*?\bavg10=(\d+(?:\.\d+)?)", re.MULTILINE)


def chip_of(cpuinfo: str) -> str | None:
    """The chip's name from /proc/cpuinfo, as written there."""
    fields = _fields(cpuinfo)
    return next((fields[label] for label in _CHIP_LABELS if fields.get(label)), None)


def memory_bytes_of(meminfo: str) -> int | None:
    """MemTotal of /proc/meminfo: what the kernel left to use, a little under what is built in."""
    amount = _fields(meminfo).get("MemTotal", "").split()
    return int(amount[0]) * 1024 if len(amount) == 2 and amount[0].isdigit() else None


def os_of(os_release: str) -> str | None:
    """PRETTY_NAME of /etc/os-release, unquoted."""
    for line in os_release.splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "PRETTY_NAME":
            return _unquoted(value) or None
    return None


def stall_of(pressure: str) -> str | None:
    """/proc/pressure/memory as a pressure word.

    normal below 10 % `some`, warn from there, critical from 10 % `full`, both averaged over ten seconds.
    """
    share = {kind: float(number) for kind, number in _STALL.findall(pressure)}
    if "some" not in share:
        return None
    if share.get("full", 0.0) >= CRITICAL_FULL_PCT:
        return "critical"
    return "warn" if share["some"] >= WARN_SOME_PCT else "normal"


def _fields(text: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in text.splitlines():
        label, _, value = line.partition(":")
        fields.setdefault(label.strip(), value.strip())
    return fields


def _unquoted(value: str) -> str:
    try:
        return " ".join(shlex.split(value))
    except ValueError:
        return value.strip()
