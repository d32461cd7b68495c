"""Texts side by side in a pull request's comment: what changed in a prompt, and old and new answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from touchstone.baseline.comparison import ComparedRow, TextDiff
from touchstone.render.budget import Lines
from touchstone.render.comparison import Answers, first_change, state_words
from touchstone.render.markdown import block, folded, html_code
from touchstone.render.phrases import phrase
from touchstone.render.plain import one_line
from touchstone.render.review_phrases import more, review_phrase
from touchstone.render.review_tables import NAME_WIDTH, name, scores
from touchstone.render.words import Words

_DIFF_LINE_WIDTH = 300
_ROW_NAME_WIDTH = 200
_TITLES = {"variant": "prompt_changed", "input": "input_changed", "rubric": "rubric_changed"}


def prompt_diff(diff: TextDiff, words: Words, most: int) -> Lines:
    """A diff in sight, under its title."""
    return [
        f"**{review_phrase(words, _TITLES[diff.kind], id=name(diff.id))}**",
        "",
        *_diff(diff, words, most),
    ]


def folded_diff(diff: TextDiff, words: Words, most: int) -> Lines:
    """A diff folded behind its title."""
    return folded(
        review_phrase(words, _TITLES[diff.kind], id=html_code(one_line(diff.id, NAME_WIDTH))),
        _diff(diff, words, most),
    )


def answer_pairs(
    rows: Sequence[ComparedRow], answers: Answers, words: Words, *, most: int, characters: int
) -> Iterator[Lines]:
    """Both answers of the first rows that have other ones, folded: the first repeat that differs."""
    several = len({row.model for row in rows}) > 1
    shown = 0
    for row in rows:
        old, new = answers.get((row.model, row.variant, row.prompt), ((), ()))
        if row.same_answer is not False or not old or not new or shown == most:
            continue
        shown += 1
        before, after = first_change(old, new)
        lines = [
            *_answer(phrase(words, "old_answer"), before, words, characters),
            "",
            *_answer(phrase(words, "new_answer"), after, words, characters),
        ]
        yield folded(_summary(row, words, several=several), lines)


def _diff(diff: TextDiff, words: Words, most: int) -> Lines:
    shown = "\n".join(_cut(line) for line in diff.lines[:most])
    return [*block(shown, "diff"), *_below(more(len(diff.lines) - most, words))]


def _cut(line: str) -> str:
    return line if len(line) <= _DIFF_LINE_WIDTH else line[: _DIFF_LINE_WIDTH - 1] + "…"


def _summary(row: ComparedRow, words: Words, *, several: bool) -> str:
    named = " · ".join([row.prompt, row.variant, *([row.model] if several else [])])
    told = f"{scores(row, words)}, {state_words(row, words)}"
    return f"{html_code(one_line(named, _ROW_NAME_WIDTH))}: {escape(told)}"


def _answer(title: str, text: str, words: Words, characters: int) -> Lines:
    left = more(len(text) - characters, words, "more_characters")
    return [f"**{title}**", "", *block(text[:characters]), *_below(left)]


def _below(lines: Sequence[str]) -> list[str]:
    return [told for line in lines for told in ("", line)]
