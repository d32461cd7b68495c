"""Sections into a limit: what matters least is left out first, and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

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

    Every part takes the longest version that still fits when all that matters more has its room. One that
    does not fit makes way: a shorter one that matters less may still stand.
    """
    room = budget_bytes
    chosen: dict[int, Lines] = {}
    for number in sorted(range(len(parts)), key=lambda number: parts[number].rank):
        for lines in parts[number].versions:
            if (size := size_of(lines) + 1) <= room:
                chosen[number] = lines
                room -= size
                break
    left_out = Counter(part.kind for number, part in enumerate(parts) if number not in chosen)
    return [line for number in sorted(chosen) for line in (*chosen[number], "")], left_out


def size_of(lines: Lines) -> int:
    """Bytes of the lines, each with its end. UTF-8 is never shorter than characters or UTF-16 units, so what
    keeps a limit in bytes keeps it however a forge counts.
    """
    return sum(len(line.encode()) + 1 for line in lines)
