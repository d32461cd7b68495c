"""What a cell got in each of the pack's categories."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from touchstone.result.numbers import mean
from touchstone.result.schema import ResultDoc, Row


@dataclass(frozen=True)
class CategoryShare:
    """The rows of one cell in one category. `pct` is null where none of them has one."""

    pct: float | None
    passed: int
    of: int


def category_shares(result: ResultDoc) -> dict[str, dict[tuple[str, str], CategoryShare]]:
    """Category → (model, variant) → its share, both in the order of the plan.

    As in the cell's own pct, rows a judge was not asked about stand beside the pct where a judge scores.
    """
    found: dict[str, dict[tuple[str, str], list[Row]]] = {}
    for row in result.rows:
        found.setdefault(row.category, {}).setdefault((row.model, row.variant), []).append(row)
    judged = bool(result.instrument.dimensions)
    return {
        category: {cell: _share(rows, judged=judged) for cell, rows in cells.items()}
        for category, cells in found.items()
    }


def _share(rows: Iterable[Row], *, judged: bool) -> CategoryShare:
    rows = list(rows)
    pcts = [row.pct for row in rows if row.pct is not None and (not judged or _has_scores(row))]
    return CategoryShare(
        pct=mean(pcts) if pcts else None,
        passed=sum(row.state == "pass" for row in rows),
        of=len(rows),
    )


def _has_scores(row: Row) -> bool:
    return any(repeat.scores for repeat in row.repeats)
