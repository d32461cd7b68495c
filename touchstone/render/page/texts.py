"""Long texts as a page shows them: cut where nobody reads on, and marked where two of them part."""

from __future__ import annotations

from dataclasses import dataclass

from touchstone.baseline.comparison import TextDiff
from touchstone.render.page.phrases import page_phrase
from touchstone.render.phrases import counted, phrase
from touchstone.render.plain import one_line
from touchstone.render.review_phrases import review_phrase
from touchstone.render.words import Words

ANSWER_CHARACTERS = 6_000
DIFF_LINES_MAX = 400
DIFF_LINE_WIDTH = 1_000
TITLE_WIDTH = 120
MARKED_SHARE_MAX = 0.7
"""Where more than this share of a text differs, marking it would only colour it."""

_TITLES = {"variant": "prompt_changed", "input": "input_changed", "rubric": "rubric_changed"}
_KINDS = {"+": "add", "-": "del", "@": "hunk"}


@dataclass(frozen=True)
class Text:
    """A text in three parts; the middle one is what the other text does not have. `more` tells of a cut."""

    start: str
    middle: str = ""
    end: str = ""
    more: str | None = None


@dataclass(frozen=True)
class Diff:
    """A changed text: a title, and lines with their kind."""

    title: str
    lines: list[tuple[str, str]]
    more: str | None
    open: bool


def shown(text: str, words: Words) -> Text:
    """One text, cut."""
    return Text(text[:ANSWER_CHARACTERS], more=_more(text, words))


def apart(old: str, new: str, words: Words) -> tuple[Text, Text]:
    """Two texts, each with the part between their common start and end marked."""
    before, after = old[:ANSWER_CHARACTERS], new[:ANSWER_CHARACTERS]
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    start, end = _at_word(before, after, start), _at_word(before[::-1], after[::-1], end)
    return _parts(before, start, end, _more(old, words)), _parts(after, start, end, _more(new, words))


def diff(changed: TextDiff, words: Words) -> Diff:
    """A variant's diff in sight, others folded."""
    lines = [
        (_KINDS.get(line[:1], "same"), line[:DIFF_LINE_WIDTH]) for line in changed.lines[:DIFF_LINES_MAX]
    ]
    left = len(changed.lines) - DIFF_LINES_MAX
    return Diff(
        title=review_phrase(words, _TITLES[changed.kind], id=one_line(changed.id, TITLE_WIDTH)),
        lines=lines,
        more=phrase(words, "more_lines", lines=counted(words, "more_lines", left)) if left > 0 else None,
        open=changed.kind == "variant",
    )


def _more(text: str, words: Words) -> str | None:
    left = len(text) - ANSWER_CHARACTERS
    return page_phrase(words, "more_characters", n=left) if left > 0 else None


def _parts(text: str, start: int, end: int, more: str | None) -> Text:
    middle = text[start : len(text) - end]
    if not middle or len(middle) > MARKED_SHARE_MAX * len(text):
        return Text(text, more=more)
    return Text(text[:start], middle, text[len(text) - end :], more)


def _common(one: str, other: str) -> int:
    """Length of the common start, found by halving: comparing slices is what Python does fast."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _at_word(one: str, other: str, length: int) -> int:
    """The common start shortened to whole words."""
    while length and not _is_between(one, other, length):
        length -= 1
    return length


def _is_between(one: str, other: str, place: int) -> bool:
    """Whether no word of either text goes on at a place up to which both are the same."""
    return one[place - 1].isspace() or not any(text[place : place + 1].strip() for text in (one, other))
