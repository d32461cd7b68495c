"""The choice of the typical run, as a table: every differing row, each run's value, who was in the middle."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.render import numbers
from touchstone.render.plain import visible
from touchstone.render.words import Language, Words
from touchstone.result.select import DifferingRow, RowValue, Selection

DECIDED = {
    "votes": "most often in the middle",
    "tokens": "tied in the middle; fewest tokens",
    "calls": "tied in the middle; fewest calls",
    "age": "tied in the middle and in cost; the oldest",
}


def selection_text(selection: Selection, language: Language = "en") -> str:
    """Every row that differs, the tally, the choice, and loudly what speaks against it."""
    words = Words(language)
    lines = [
        *_rows(selection, words),
        *_runs(selection, words),
        "",
        _choice(selection),
        *_warnings(selection),
    ]
    return "\n".join(visible(line) for line in lines) + "\n"


def _rows(selection: Selection, words: Words) -> list[str]:
    same = selection.rows_compared - len(selection.rows)
    if not selection.rows:
        return [f"all {selection.rows_compared} rows are the same in every run", ""]
    header = ["row", *(f"run {number}" for number in range(1, len(selection.runs) + 1)), "in the middle"]
    table = [header, *(_row(row, words) for row in selection.rows)]
    return [*_aligned(table), f"({same} of {selection.rows_compared} rows are the same in every run)", ""]


def _row(row: DifferingRow, words: Words) -> list[str]:
    middle = " ".join(f"run {index + 1}" for index in row.middle)
    return [f"{row.prompt} · {row.variant}", *(_value(value, words) for value in row.values), middle]


def _value(value: RowValue, words: Words) -> str:
    parts = [numbers.percent(value.pct, words)]
    if value.flags:
        parts.append(f"{value.flags} flagged")
    if value.failed_checks:
        parts.append(f"{value.failed_checks} failed")
    return ", ".join(parts)


def _runs(selection: Selection, words: Words) -> list[str]:
    table = [["", "run", "in the middle", "total", "tokens", "calls"]]
    for number, (run, votes, total, cost) in enumerate(
        zip(selection.runs, selection.tally, selection.totals, selection.costs, strict=True), start=1
    ):
        mark = "→" if number == selection.chosen + 1 else ""
        table.append(
            [
                mark,
                f"run {number}: {run}",
                str(votes),
                numbers.percent(total, words),
                numbers.number(cost.tokens, words),
                str(cost.calls),
            ]
        )
    return _aligned(table)


def _choice(selection: Selection) -> str:
    return f"typical: {selection.run} ({DECIDED[selection.decided_by]})"


def _warnings(selection: Selection) -> list[str]:
    lines = []
    if selection.outlier_total:
        lines.append(
            "⚠ The vote fell on a run whose total is not the middle one of the totals. "
            "All draws are kept and tested against, so the reference does not lean on this choice alone."
        )
    if selection.same_launch:
        lines.append(
            "⚠ At least two runs come from one launch of the engine; what a restart changes is not in them."
        )
    return lines


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
