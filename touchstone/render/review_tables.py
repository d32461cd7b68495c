"""Tables of a pull request's comment: what moved, the cells and the rows, old → new."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.baseline.comparison import ComparedCell, ComparedRow, Moved
from touchstone.render import numbers
from touchstone.render.budget import Lines
from touchstone.render.comparison import (
    SAFETY_MARKS,
    difference_words,
    from_to,
    length_words,
    moves_words,
    over_words,
    state_words,
    value_words,
)
from touchstone.render.markdown import code, escaped, sentence, table
from touchstone.render.phrases import phrase
from touchstone.render.plain import one_line
from touchstone.render.review_phrases import more, review_phrase
from touchstone.render.words import Words

NAME_WIDTH = 80
_MOVES_WIDTH = 160


def moved_list(moves: Sequence[Moved], words: Words, most: int) -> Lines:
    """Fields that differ, both values of each, and what kind of field it is: a looser line is called one."""
    lines = [
        f"- {name(moved.field)}: {escaped(value_words(moved.old, words))} → "
        f"{escaped(value_words(moved.new, words))} ({phrase(words, f'kind_{moved.kind}')})"
        for moved in moves[:most]
    ]
    return lines + [f"- {line}" for line in more(len(moves) - most, words)]


def cell_table(cells: Sequence[ComparedCell], words: Words, most: int) -> Lines:
    """A line per cell; what no cell has gets no column."""
    columns = _columns(cells, words)
    told = [_told(cell, words) for cell in cells[:most]]
    rows = [[line[column] for column in columns] for line in told]
    return [*table(list(columns.values()), rows), *_below(len(cells) - most, words)]


def row_table(rows: Sequence[ComparedRow], words: Words, most: int, *, several: bool) -> Lines:
    """A line per row; the model has a column where there are `several`."""
    header = [
        words["prompt"], words["variant"], review_phrase(words, "old_new"), words["state"],
        review_phrase(words, "moved"),
    ]  # fmt: skip
    if several:
        header.insert(0, words["model"])
    told = table(header, [_row(row, words, several=several) for row in rows[:most]])
    return [*told, *_below(len(rows) - most, words)]


def scores(row: ComparedRow, words: Words) -> str:
    """A row's percentages, old → new."""
    return f"{numbers.percent(row.old, words)} → {numbers.percent(row.new, words)}"


def name(text: str) -> str:
    """A name from outside as code."""
    return code(one_line(text, NAME_WIDTH))


def _below(left: int, words: Words) -> list[str]:
    return [line for told in more(left, words) for line in ("", told)]


def _columns(cells: Sequence[ComparedCell], words: Words) -> dict[str, str]:
    """Name → heading; what no cell has gets no column."""
    has = {
        "level": any(cell.level != (None, None) for cell in cells),
        "safety": any(cell.safety != (None, None) for cell in cells),
        "classes": any(cell.new_labels for cell in cells),
        "same": any(cell.shared for cell in cells),
        "length": any(cell.length != (None, None) for cell in cells),
    }
    headings = {
        "name": review_phrase(words, "model_variant"),
        "score": review_phrase(words, "old_new"),
        "difference": review_phrase(words, "difference"),
        "state": words["state"],
        "level": words["level"],
        "safety": words["safety"],
        "classes": review_phrase(words, "classes"),
        "below": words["below_line"],
        "same": review_phrase(words, "same_answers"),
        "length": review_phrase(words, "length"),
    }
    return {name: heading for name, heading in headings.items() if has.get(name, True)}


def _told(cell: ComparedCell, words: Words) -> dict[str, str]:
    """Column → what stands in it. A cell that is new has no old value anywhere."""
    na, first = words["na"], 1 if cell.state == "new" else 0
    percents = [numbers.percent(value, words) for value in (cell.old, cell.new)]
    levels = [words[level] if level else na for level in cell.level]
    labels = [value or na for value in (cell.old_labels, cell.new_labels)]
    below = [numbers.number(count, words) for count in (cell.old_below, cell.new_below)]
    return {
        "name": f"{name(cell.model)} · {name(cell.variant)}",
        "score": " → ".join(percents[first:]) + (f" ({over_words(cell, words)})" if cell.over else ""),
        "difference": difference_words(cell, words) or "–",
        "state": words[cell.state],
        "level": from_to(levels[first:]),
        "safety": from_to([SAFETY_MARKS[mark] for mark in cell.safety][first:]),
        "classes": sentence(from_to(labels[first:])),
        "below": from_to(below[first:]),
        "same": f"{cell.identical}/{cell.shared}" if cell.shared else "–",
        "length": length_words(cell, words, first),
    }


def _row(row: ComparedRow, words: Words, *, several: bool) -> list[str]:
    cells = [
        name(row.prompt),
        name(row.variant),
        scores(row, words),
        state_words(row, words),
        escaped(one_line(moves_words(row, words), _MOVES_WIDTH)) or "–",
    ]
    return [name(row.model), *cells] if several else cells
