"""`memory_pressure`, long or with `-Q`: a first line on the memory, a last line on what is free."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SYSTEM = re.compile(r"^The system has (\d+) \((\d+) pages with a page size of (\d+)\)", re.MULTILINE)
_FREE = re.compile(r"^System-wide memory free percentage: (\d+)%", re.MULTILINE)


@dataclass(frozen=True)
class MemoryPressure:
    """Bytes, bytes, per cent; None where the line is missing."""

    total_bytes: int | None
    page_size: int | None
    free_pct: int | None


def memory_pressure_of(text: str) -> MemoryPressure:
    """What both forms have in common."""
    system, free = _SYSTEM.search(text), _FREE.search(text)
    return MemoryPressure(
        total_bytes=int(system[1]) if system else None,
        page_size=int(system[3]) if system else None,
        free_pct=int(free[1]) if free else None,
    )
