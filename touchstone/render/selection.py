"""The choice of the typical run, as a table: every differing row, each run's value, who was in the middle."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.render import numbers
from touchstone.render.phrases import phrase
from touchstone.render.plain import visible
from touchstone.render.words import Language, Words
from touchstone.result.select import DifferingRow, RowValue, Selection


def selection_text(selection: Selection, language: Language = "en") -> str:
    """Every row that differs, the tally, the choice, and loudly what speaks against it."""
    words = Words(language)
    lines = [
        *_rows(selection, words),
        *_runs(selection, words),
        "",
        _choice(selection, words),
        *_warnings(selection, words),
    ]
    return "\n".join(visible(line) for line in lines) + "\n"


def _rows(selection: Selection, words: Words) -> list[str]:
    same = selection.rows_compared - len(selection.rows)
    if not selection.rows:
        return [phrase(words, "all_rows_same", rows=selection.rows_compared), ""]
    runs = [phrase(words, "run_number", number=number) for number in range(1, len(selection.runs) + 1)]
    table = [
        [words["row"], *runs, words["in_the_middle"]],
        *(_row(row, words) for row in selection.rows),
    ]
    return [*_aligned(table), phrase(words, "some_rows_same", same=same, rows=selection.rows_compared), ""]


def _row(row: DifferingRow, words: Words) -> list[str]:
    middle = " ".join(phrase(words, "run_number", number=index + 1) for index in row.middle)
    return [f"{row.prompt} · {row.variant}", *(_value(value, words) for value in row.values), middle]


def _value(value: RowValue, words: Words) -> str:
    parts = [numbers.percent(value.pct, words)]
    if value.flags:
        parts.append(phrase(words, "n_flagged", count=value.flags))
    if value.failed_checks:
        parts.append(phrase(words, "n_failed", count=value.failed_checks))
    return ", ".join(parts)


def _runs(selection: Selection, words: Words) -> list[str]:
    table = [["", *(words[key] for key in ("run", "in_the_middle", "total", "tokens", "calls"))]]
    for number, (run, votes, total, cost) in enumerate(
        zip(selection.runs, selection.tally, selection.totals, selection.costs, strict=True), start=1
    ):
        mark = "→" if number == selection.chosen + 1 else ""
        table.append(
            [
                mark,
                f"{phrase(words, 'run_number', number=number)}: {run}",
                str(votes),
                numbers.percent(total, words),
                numbers.number(cost.tokens, words),
                str(cost.calls),
            ]
        )
    return _aligned(table)


def _choice(selection: Selection, words: Words) -> str:
    how = phrase(words, f"decided_by_{selection.decided_by}")
    return phrase(words, "typical", run=selection.run, how=how)


def _warnings(selection: Selection, words: Words) -> list[str]:
    found = {"outlier_total": selection.outlier_total, "same_launch": selection.same_launch}
    return [phrase(words, key) for key, is_so in found.items() if is_so]


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
