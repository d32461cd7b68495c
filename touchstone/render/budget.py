"""Sections into a limit: what matters least is left out first, and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

Lines = Sequence[str]


@dataclass(frozen=True, slots=True)
class Part:
    """A section. `rank` 0 matters most; `versions` say the same, the longest first.

    `kind` names what is counted when it is left out.
    """

    rank: int
    kind: str
    versions: Sequence[Lines]


def fitted(parts: Sequence[Part], budget_bytes: int) -> tuple[list[str], Counter[str]]:
    """The lines of what fits, in the given order with a blank one after each part, and what was left out.

    What matters more takes its room first. Of parts that matter alike, each takes the longest version that
    leaves the others their shortest. One that does not fit makes way: another that matters less may stand.
    """
    room = budget_bytes
    chosen: dict[int, Lines] = {}
    by_rank = sorted(range(len(parts)), key=lambda number: parts[number].rank)
    for _, group in groupby(by_rank, key=lambda number: parts[number].rank):
        alike = list(group)
        wanted = sum(_size(parts[number].versions[-1]) for number in alike)
        for number in alike:
            versions = parts[number].versions
            wanted -= _size(versions[-1])
            fitting = [lines for lines in versions[:-1] if _size(lines) <= room - wanted]
            lines = fitting[0] if fitting else versions[-1]
            if _size(lines) <= room:
                chosen[number] = lines
                room -= _size(lines)
    left_out = Counter(part.kind for number, part in enumerate(parts) if number not in chosen)
    return [line for number in sorted(chosen) for line in (*chosen[number], "")], left_out


def size_of(lines: Lines) -> int:
    """Bytes of the lines, each with its end. UTF-8 is never shorter than characters or UTF-16 units, so what
    keeps a limit in bytes keeps it however a forge counts.
    """
    return sum(len(line.encode()) + 1 for line in lines)


def _size(lines: Lines) -> int:
    return size_of(lines) + 1
