"""A run's result in a few lines, for the terminal. Plain text; nothing is decided here."""

from __future__ import annotations

from touchstone.render import numbers
from touchstone.render.plain import visible
from touchstone.render.report import (
    counts_line,
    judge_words,
    length_notices,
    level_and_score,
    provenance,
    safety_mark,
)
from touchstone.render.timing import left_out_sentence
from touchstone.render.words import Language, Words
from touchstone.result.schema import ResultDoc


def result_text(result: ResultDoc, language: Language = "en") -> str:
    """A run's result in a few lines."""
    words = Words(language)
    known = dict(provenance(result, words))
    models = ", ".join(dict.fromkeys(cell.model for cell in result.cells))
    lines = [
        counts_line(result, words).replace("**", ""),
        f"{words['model']}: {models} · {judge_words(result, words)}",
        " · ".join(f"{words[key]} {known[words[key]]}" for key in ("engine", "quant", "chip")),
    ]
    width = max(len(f"{cell.model} · {cell.variant}") for cell in result.cells)
    for cell in result.cells:
        parts = [level_and_score(cell, words)]
        if cell.quality and cell.quality.checks.of:
            parts.append(f"{words['checks'].lower()} {numbers.tally(cell.quality.checks)}")
        if cell.quality and cell.quality.safety_passed is not None:
            parts.append(f"{words['safety'].lower()} {safety_mark(cell, words)}")
        if cell.labels:
            parts.append(numbers.labels(cell.labels, words))
        parts.append(f"{cell.counts.below_line} {words['below_line'].lower()}")
        lines.append(f"  {f'{cell.model} · {cell.variant}':<{width}}  {' · '.join(parts)}")
    if result.run.rejudged:
        lines.append(words["judged_again"])
    lines += length_notices(result, words)
    lines += _unfit_sentences(result, words)
    return "\n".join(visible(line) for line in lines) + "\n"


def _unfit_sentences(result: ResultDoc, words: Words) -> list[str]:
    """Cells of which the machine spoiled times; a cold start alone is nothing to tell."""
    told = [
        left_out_sentence(cell, f"{cell.model} · {cell.variant}", words)
        for cell in result.cells
        if cell.perf.unfit
    ]
    return [sentence for sentence in told if sentence]
