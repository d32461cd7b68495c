"""Answers whose length may have bought their score: beside the reference's, and beside another variant's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import permutations

from touchstone.baseline.comparison import ComparedCell

LONGER = 1.2
"""Ratio of median lengths from which a higher score may be owed to length."""


def longer_than_reference(cells: Iterable[ComparedCell]) -> list[tuple[ComparedCell, float]]:
    """Cells whose score rose with much longer answers, each with how much longer: 0.2 is 20 %."""
    rose = [cell for cell in cells if cell.difference is not None and cell.difference > 0]
    longer = [(cell, _excess(*cell.length)) for cell in rose]
    return [(cell, excess) for cell, excess in longer if excess is not None]


def longer_variants(cells: Sequence[ComparedCell]) -> list[tuple[ComparedCell, ComparedCell, float]]:
    """Every pair of one model's variants of which the run's higher-scored one is much longer."""
    found = []
    for high, low in permutations(cells, 2):
        if high.model != low.model or high.length_unit != low.length_unit:
            continue
        if high.new is None or low.new is None or high.new <= low.new:
            continue
        excess = _excess(low.length[1], high.length[1])
        if excess is not None:
            found.append((high, low, excess))
    return found


def _excess(short: float | None, long: float | None) -> float | None:
    """How much longer one is, where that is much; else null."""
    if short is None or long is None or short <= 0 or long < LONGER * short:
        return None
    return long / short - 1
