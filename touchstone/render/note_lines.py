"""The notes of a comparison as sentences; those about length name the cell and how much longer it is."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.baseline.comparison import ComparedCell, Comparison
from touchstone.baseline.length import longer_than_reference, longer_variants
from touchstone.render.phrases import phrase
from touchstone.render.sentences import note_sentence
from touchstone.render.words import Words


def note_lines(comparison: Comparison, words: Words, *, variants: bool) -> list[str]:
    """A sentence or more per note. Without `variants` the run's own notices say which is the longer one."""
    return [line for code in comparison.notes for line in _lines(code, comparison, words, variants=variants)]


def open_lines(comparison: Comparison, words: Words) -> list[str]:
    """What to do where too much could not be judged."""
    if comparison.status != "not_judged":
        return []
    return [phrase(words, "go_on", run=comparison.candidate.run)]


def _lines(code: str, comparison: Comparison, words: Words, *, variants: bool) -> Iterator[str]:
    if code == "longer_variant":
        yield from _variants(comparison, words) if variants else ()
    elif code == "longer_answers" and (found := longer_than_reference(comparison.cells)):
        for cell, excess in found:
            name = f"{cell.model} · {cell.variant}"
            yield _measured(phrase(words, "longer", cell=name, percent=_percent(excess)), cell, words)
    else:
        yield note_sentence(code, words)


def _variants(comparison: Comparison, words: Words) -> Iterator[str]:
    for high, low, excess in longer_variants(comparison.cells):
        told = words.filled("length_confound", variant=high.variant, percent=_percent(excess))
        if len(comparison.cells) > 2:
            told += f" ({words.filled('length_pair', model=high.model, variant=low.variant)})"
        yield _measured(told, high, words)


def _measured(told: str, cell: ComparedCell, words: Words) -> str:
    return f"{told} ({words['by_characters']})" if cell.length_unit == "characters" else told


def _percent(excess: float) -> str:
    return f"{excess * 100:.0f}"
