"""`vm_stat`: a header with the page size, then counts of pages by label."""

from __future__ import annotations

import re
from dataclasses import dataclass

COMPRESSOR = "Pages occupied by compressor"

_HEADER = re.compile(r"page size of (\d+) bytes")
_COUNT = re.compile(r'^"?([^":]+)"?:\s+(\d+)\.?\s*$', re.MULTILINE)
_BYTES_PER_MB = 2**20


@dataclass(frozen=True)
class VmStat:
    """The page size (16384 on Apple silicon, 4096 on Intel: never assumed) and the counts."""

    page_size: int | None
    counts: dict[str, int]

    def megabytes(self, label: str) -> float | None:
        """A count of pages in MiB; None where the count or the page size was not read."""
        if self.page_size is None or label not in self.counts:
            return None
        return self.counts[label] * self.page_size / _BYTES_PER_MB


def vm_stat_of(text: str) -> VmStat:
    """Header and counts."""
    header = _HEADER.search(text)
    counts = {label: int(number) for label, number in _COUNT.findall(text)}
    return VmStat(int(header[1]) if header else None, counts)
