"""`sysctl NAME…`: lines `name: value`. Values are found by their name, never by their position.

A name the kernel lacks prints no line on standard output (sometimes a complaint on standard error,
sometimes nothing at all), so with `-n` every later value would move up by one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from touchstone.host.readers.words import other

CHIP = "machdep.cpu.brand_string"
MEMORY_BYTES = "hw.memsize"
SWAP = "vm.swapusage"
PRESSURE = "kern.memorystatus_vm_pressure_level"
GPU_LIMIT = "iogpu.wired_limit_mb"

_PAIR = re.compile(r"^([a-z][\w-]*(?:\.[\w-]+)+): ?(.*)$", re.IGNORECASE)
_AMOUNT = re.compile(r"\b(total|used|free) = (\d+(?:[.,]\d+)?)([KMGT])", re.IGNORECASE)
_MB_PER_UNIT = {"K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0 * 1024.0}
_LEVELS = {"1": "normal", "2": "warn", "4": "critical"}


@dataclass(frozen=True)
class Swap:
    """`vm.swapusage` in MiB. The share is None where no swap exists: it is created on demand."""

    total_mb: float
    used_mb: float
    free_mb: float

    @property
    def used_pct(self) -> float | None:
        """Used share of the total."""
        return 100.0 * self.used_mb / self.total_mb if self.total_mb > 0 else None


def values_by_name(text: str) -> dict[str, str]:
    """Every `name: value` line; a name without a value, or absent, is not in it."""
    pairs = (_PAIR.match(line.strip()) for line in text.splitlines())
    return {pair[1]: pair[2].strip() for pair in pairs if pair and pair[2].strip()}


def whole_number(value: str | None) -> int | None:
    """A value that is nothing but digits."""
    return int(value) if value is not None and value.isascii() and value.isdigit() else None


def swap_of(value: str | None) -> Swap | None:
    """The value of `vm.swapusage`; some locales write a decimal comma."""
    amounts = {
        name.lower(): float(number.replace(",", ".")) * _MB_PER_UNIT[unit.upper()]
        for name, number, unit in _AMOUNT.findall(value or "")
    }
    if not {"total", "used", "free"} <= amounts.keys():
        return None
    return Swap(amounts["total"], amounts["used"], amounts["free"])


def pressure_of(value: str | None) -> str | None:
    """The kernel's memory pressure level: 1 normal, 2 warn, 4 critical."""
    return _LEVELS.get(value, other(value)) if value else None


def gpu_limit_of(value: str | None) -> int | str | None:
    """The wired memory limit of the GPU in MiB; 0 means the system's own `default`.

    A write echoes `old -> new`; the new value counts.
    """
    limit = whole_number((value or "").rpartition("->")[2].strip())
    return "default" if limit == 0 else limit
