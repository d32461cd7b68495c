"""Annotations of a workflow's run: at most ten, worst first, none of which can become another command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from touchstone.baseline.comparison import ComparedRow
from touchstone.render.comparison import moved_rows, moves_words, safety_warnings, state_words
from touchstone.render.note_lines import open_lines
from touchstone.render.plain import in_one_line, one_line
from touchstone.render.review import PackReview, status_text, worst_first
from touchstone.render.review_phrases import review_phrase
from touchstone.render.review_tables import scores
from touchstone.render.words import Language, Words

ANNOTATIONS_MAX = 10
MESSAGE_WIDTH = 300

Level = Literal["error", "warning", "notice"]
_LEVELS: tuple[Level, ...] = ("error", "warning", "notice")
_SILENT = frozenset({"better", "within_noise", "unchanged"})


class Annotation(NamedTuple):
    """One finding. `path` is the pack's file, where it is known."""

    level: Level
    title: str
    message: str
    path: str | None = None


def annotation_lines(reviews: Sequence[PackReview], language: Language = "en") -> list[str]:
    """The workflow commands to print, each on a line of its own."""
    words = Words(language)
    found = [one for review in worst_first(reviews) for one in _findings(review, words)]
    found.sort(key=lambda one: _LEVELS.index(one.level))
    if len(found) > ANNOTATIONS_MAX:
        left = review_phrase(words, "unnamed", n=len(found) - ANNOTATIONS_MAX + 1)
        found = [
            *found[: ANNOTATIONS_MAX - 1],
            Annotation(found[ANNOTATIONS_MAX - 1].level, "touchstone", left),
        ]
    return [command_line(one) for one in found]


def command_line(annotation: Annotation) -> str:
    """The command, its texts escaped so that they end neither a line nor a property."""
    properties = {"title": annotation.title, "file": annotation.path}
    told = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value)
    return f"::{annotation.level} {told}::{_data(annotation.message)}"


def _findings(review: PackReview, words: Words) -> Iterator[Annotation]:
    """The pack's status, what is in doubt, and its worst rows."""
    title = review_phrase(words, "title", pack=review.pack)
    level = _level(review)
    if level is not None:
        yield Annotation(level, title, _message(review, words), review.path)
    if review.comparison is None:
        return
    for told in safety_warnings(review.comparison, words):
        yield Annotation("warning", title, told, review.path)
    several = len({row.model for row in review.comparison.rows}) > 1
    for row in moved_rows(review.comparison):
        if row.state in {"worse", "not_judged", "suspect"}:
            by = f" [{moves_words(row, words)}]" if row.moved_by else ""
            named = " · ".join([row.prompt, row.variant, *([row.model] if several else [])])
            told = f"{named}: {scores(row, words)}, {state_words(row, words)}{by}"
            yield Annotation(_row_level(row, review), title, told, review.path)


def _row_level(row: ComparedRow, review: PackReview) -> Level:
    """What a promotion accepts is told, and fails nothing."""
    if review.status == "promotion":
        return "notice"
    return "error" if row.state == "worse" else "warning"


def _level(review: PackReview) -> Level | None:
    """An error is what fails the job by default, whatever its reason."""
    if review.comparison is None or review.comparison.exit != 0:
        return "error"
    if review.status in _SILENT:
        gone_or_new = review.comparison.counts.gone or review.comparison.counts.new
        return "notice" if gone_or_new else None
    return "notice" if review.status in {"no_reference", "promotion"} else "warning"


def _message(review: PackReview, words: Words) -> str:
    parts = [status_text(review, words), *review.first]
    parts += open_lines(review.comparison, words) if review.comparison is not None else []
    if review.error is not None:
        parts += [in_one_line(review.error.message), *([review.error.hint] if review.error.hint else [])]
    return " — ".join(parts)


def _data(text: str) -> str:
    """One visible line; the old form of a command, which may stand anywhere in a line, is broken."""
    told = one_line(text, MESSAGE_WIDTH).replace("##[", "##\u200b[")
    return told.replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
