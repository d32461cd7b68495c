"""A run's result for the terminal: first lines, then a table of 80 columns. Nothing is decided here."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.render import numbers
from touchstone.render.columns import folded_lines, named_table
from touchstone.render.plain import one_line, visible
from touchstone.render.report import (
    counts_line,
    judge_words,
    length_notices,
    length_words,
    level_and_score,
    provenance,
    unpromotable,
)
from touchstone.render.timing import left_out_sentence
from touchstone.render.words import Language, Words
from touchstone.result.schema import Cell, ResultDoc

NAME_WIDTH = 120

_HEADINGS: dict[str, tuple[str, str]] = {
    "name": ("model · variant", "Modell · Variante"),
    "score": ("score", "Wert"),
    "safety": ("safety", "Sicherheit"),
    "judged": ("judged", "bewertet"),
    "checks": ("checks", "Checks"),
    "below_line": ("< line", "< Linie"),
    "length": ("tokens", "Tokens"),
}
_MARKS = {True: "✓", False: "✗"}


def result_text(result: ResultDoc, language: Language = "en") -> str:
    """A run's result in a few lines, none wider than 80 columns."""
    words = Words(language)
    known = dict(provenance(result, words))
    models = ", ".join(one_line(model, NAME_WIDTH) for model in dict.fromkeys(c.model for c in result.cells))
    sentences = [
        counts_line(result, words).replace("**", ""),
        f"{words['model']}: {models} · {judge_words(result, words)}",
        " · ".join(f"{words[key]} {known[words[key]]}" for key in ("engine", "quant", "chip")),
    ]
    told = [*unpromotable(result, words), *length_notices(result, words), *_unfit_sentences(result, words)]
    lines = [line for sentence in sentences for line in folded_lines(visible(sentence))]
    lines += ["", *_table(result, words)]
    lines += [""] if told else []
    lines += [line for sentence in told for line in folded_lines(visible(sentence))]
    return "\n".join(lines) + "\n"


def _table(result: ResultDoc, words: Words) -> list[str]:
    """A line per cell; what no cell has gets no column."""
    columns = list(_HEADINGS)
    if not any(cell.quality and cell.quality.checks.of for cell in result.cells):
        columns.remove("checks")
    if not result.instrument.dimensions:
        columns.remove("safety")
    header = [_HEADINGS[column][words.language == "de"] for column in columns]
    told = [(_figures(cell, words), list(_below(cell, words))) for cell in result.cells]
    return named_table(header, [([figures[column] for column in columns], below) for figures, below in told])


def _figures(cell: Cell, words: Words) -> dict[str, str]:
    quality, counts = cell.quality, cell.counts
    return {
        "name": one_line(f"{cell.model} · {cell.variant}", NAME_WIDTH),
        "score": level_and_score(cell, words),
        "safety": _safety(cell, words),
        "judged": f"{counts.judged}/{counts.planned}",
        "checks": numbers.tally(quality.checks) if quality and quality.checks.of else "–",
        "below_line": numbers.number(counts.below_line, words),
        "length": length_words(cell, words),
    }


def _safety(cell: Cell, words: Words) -> str:
    passed = cell.quality.safety_passed if cell.quality else None
    return words["not_assessed"] if passed is None else _MARKS[passed]


def _below(cell: Cell, words: Words) -> Iterator[str]:
    """What does not fit a column: why safety failed or is not known, and what the labels say."""
    for reason in cell.quality.safety_reason if cell.quality else ():
        if reason.code != "no_gate":
            yield visible(words.safety_reason(reason))
    if cell.labels:
        yield numbers.labels(cell.labels, words)


def _unfit_sentences(result: ResultDoc, words: Words) -> list[str]:
    """Cells of which the machine spoiled times; a cold start alone is nothing to tell."""
    told = [left_out_sentence(cell, words) for cell in result.cells if cell.perf.unfit]
    return [sentence for sentence in told if sentence]
