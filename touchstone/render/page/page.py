"""A run as a page: status first, then cells, what changed, rows, where it came from, and its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.baseline.comparison import Comparison, Moved
from touchstone.gate.history import History
from touchstone.gate.page import Beside, PageFacts
from touchstone.render.comparison import (
    honesty_lines,
    reference_lines,
    safety_warnings,
    status_line,
    value_words,
)
from touchstone.render.marks import is_uncertain, mark_of
from touchstone.render.note_lines import note_lines, open_lines
from touchstone.render.page.cells import compared_cells, own_cells
from touchstone.render.page.environment import filled
from touchstone.render.page.history import history_views
from touchstone.render.page.phrases import page_phrase
from touchstone.render.page.provenance import both_fields, own_fields
from touchstone.render.page.rows import compared_groups, own_groups
from touchstone.render.page.texts import diff
from touchstone.render.phrases import phrase
from touchstone.render.plain import one_line
from touchstone.render.rejudged import judge_moved_lines
from touchstone.render.report import judge_words, length_notices, run_honesty_lines, shortcomings
from touchstone.render.report_rows import category_tables
from touchstone.render.review_phrases import review_phrase
from touchstone.render.sentences import reason_words
from touchstone.render.speed import speed_lines
from touchstone.render.tables import Table
from touchstone.render.timing import timing_tables
from touchstone.render.words import Language, Words

LINE_WIDTH = 600

_TONES = {"🔴": "bad", "🟡": "warn", "🔵": "info", "⚪": "plain", "🟢": "good"}
_COUNTED = (
    "worse", "not_judged", "suspect", "rule_changed", "better", "new", "gone", "within_noise", "unchanged",
)  # fmt: skip


@dataclass(frozen=True)
class Status:
    """What is read first. `tone` is the colour of the comment's sign; `counts` are (state, number, word)."""

    tone: str
    word: str
    why: str
    counts: Sequence[tuple[str, int, str]]
    warnings: Sequence[str]
    lines: Sequence[str]


@dataclass(frozen=True)
class Moves:
    """Fields that differ under one title: (field, old, new, kind)."""

    title: str
    fields: Sequence[tuple[str, str, str, str]]


def page_html(facts: PageFacts, history: Sequence[History] = (), language: Language = "en") -> str:
    """One page that stands by itself: of the comparison where there is one, else of the run."""
    words = Words(language)
    beside = facts.beside
    told = _compared(facts, beside, words) if beside else _own(facts, words)
    return filled(
        "page.html",
        words,
        pack=_line(facts.result.provenance.pack_id),
        pack_title=_line(facts.title),
        compared=beside is not None,
        judge=_line(judge_words(facts.result, words)),
        judge_missing=judge_words(facts.result, words) == words["judge_not_recorded"],
        histories=history_views(history, words),
        **told,
    )


def _compared(facts: PageFacts, beside: Beside, words: Words) -> dict[str, object]:
    comparison = beside.comparison
    return {
        "title": _line(status_line(comparison, words)),
        "status": _status(facts, comparison, words),
        "moves": list(_moves(comparison, words)),
        "cells": compared_cells(comparison.cells, facts, words),
        "diffs": [diff(changed, words) for changed in comparison.diffs],
        "groups": compared_groups(facts, beside, words),
        "notes": _notes(facts, comparison, words),
        "fields": both_fields(facts, beside, words),
        "shares": [],
        "times": [],
    }


def _own(facts: PageFacts, words: Words) -> dict[str, object]:
    own_notices = [*length_notices(facts.result, words), *run_honesty_lines(facts.result, words)]
    return {
        "title": _line(
            page_phrase(words, "of_run", pack=facts.result.provenance.pack_id, run=facts.result.run.id)
        ),
        "status": _own_status(facts, words),
        "moves": [],
        "cells": own_cells(facts, words),
        "diffs": [],
        "groups": own_groups(facts, words),
        "notes": [_line(notice) for notice in own_notices],
        "fields": own_fields(facts, words),
        "shares": [_shown(one) for one in category_tables(facts.result, words)],
        "times": [_shown(one) for one in timing_tables(facts.result, words)],
    }


def _status(facts: PageFacts, comparison: Comparison, words: Words) -> Status:
    state = "rule_changed" if comparison.reason == "judge_moved" else comparison.status
    counts = [(name, getattr(comparison.counts, name), words[name]) for name in _COUNTED]
    why = reason_words(comparison, words)
    if why and "judge_not_ruled_out" in comparison.notes:
        why = f"{why}; {phrase(words, 'not_ruled_out')}"
    return Status(
        tone=_TONES[mark_of(comparison.status, uncertain=is_uncertain(comparison))],
        word=words[state],
        why=why,
        counts=[count for count in counts if count[1]],
        warnings=[*map(_line, safety_warnings(comparison, words)), *_shortcomings(facts, words)],
        lines=[_line(line) for line in reference_lines(comparison, words)],
    )


def _own_status(facts: PageFacts, words: Words) -> Status:
    """A run by itself has no verdict, only counts; nothing is green where nothing was compared."""
    cells = facts.result.cells
    told = {"pass": "passed", "fail": "failed", "error": "error"}
    counts = [(word, sum(getattr(c.counts, name) for c in cells), words[word]) for word, name in told.items()]
    further = [
        (name, number, words[name])
        for name in ("unscored", "empty", "reasoning_only", "truncated")
        if (number := sum(getattr(cell.counts, name) for cell in cells))
    ]
    unjudged = any(cell.quality is None for cell in cells)
    return Status(
        tone="plain",
        word=words["not_judged_yet"] if unjudged else page_phrase(words, "not_compared"),
        why="",
        counts=further if unjudged else counts + further,
        warnings=_shortcomings(facts, words),
        lines=[_line(f"{page_phrase(words, 'run')}: {facts.result.run.id}")],
    )


def _shortcomings(facts: PageFacts, words: Words) -> list[str]:
    """What a reader must know of this run before any of its numbers."""
    rebuilt = [words["rebuilt"]] if facts.rebuilt else []
    return rebuilt + [told for _, told in shortcomings(facts.result, words)]


def _moves(comparison: Comparison, words: Words) -> list[Moves]:
    others = [moved for moved in comparison.moved if moved.kind not in {"prompt", "case"}]
    pairs = (("not_comparable", comparison.not_comparable), ("else_moved", others))
    return [
        Moves(review_phrase(words, key), [_move(one, words) for one in moved])
        for key, moved in pairs
        if moved
    ]


def _move(moved: Moved, words: Words) -> tuple[str, str, str, str]:
    values = (value_words(moved.old, words), value_words(moved.new, words))
    return (_line(moved.field), *values, phrase(words, f"kind_{moved.kind}"))


def _notes(facts: PageFacts, comparison: Comparison, words: Words) -> list[str]:
    lines = [
        *length_notices(facts.result, words),
        *note_lines(comparison, words, variants=False),
        *open_lines(comparison, words),
        *judge_moved_lines(comparison.judge_moved, words),
        *speed_lines(comparison.speed, words),
        *honesty_lines(comparison, words),
    ]
    return [_line(line) for line in lines]


def _shown(table: Table) -> Table:
    return Table(
        table.title,
        [_line(name) for name in table.header],
        [[_line(cell) for cell in row] for row in table.rows],
        [_line(told) for told in table.sentences],
    )


def _line(text: str) -> str:
    return one_line(text, LINE_WIDTH)
