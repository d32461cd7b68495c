"""The step summary: what the comment says, with room for nearly all of it."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.render.budget import fitted, size_of
from touchstone.render.comment import LEFT_OUT_ROOM, left_out_lines
from touchstone.render.markdown import sentence
from touchstone.render.review import Limits, Occasion, PackReview, footer, heading, review_parts
from touchstone.render.review_phrases import review_phrase
from touchstone.render.words import Language, Words

SUMMARY_BUDGET = 900_000
"""Bytes; over a mebibyte GitHub drops the whole summary."""
LIMITS = Limits(
    cells=1_000, rows=3_000, answers=300, answer_characters=6_000, diff_lines=2_000, moved=300, named=1_000
)


def sentences_text(sentences: Sequence[str]) -> str:
    """A summary of sentences alone, where there is no verdict to tell."""
    return "".join(f"{sentence(told)}\n\n" for told in sentences)


def summary_text(reviews: Sequence[PackReview], occasion: Occasion, language: Language = "en") -> str:
    """The summary's text."""
    words = Words(language)
    top, bottom = [heading(reviews, words), ""], [footer(occasion, words)]
    room = SUMMARY_BUDGET - LEFT_OUT_ROOM - size_of([*top, *bottom])
    lines, left_out = fitted(review_parts(reviews, occasion, words, LIMITS), room)
    where = review_phrase(words, "the_run")
    return "\n".join([*top, *lines, *left_out_lines(left_out, where, words), *bottom]) + "\n"
