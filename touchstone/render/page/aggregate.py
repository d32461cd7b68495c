"""Many runs side by side, as a page of its own."""

from __future__ import annotations

from touchstone.baseline.aggregate import Aggregate
from touchstone.render.aggregate import sheets
from touchstone.render.aggregate_phrases import aggregate_phrase
from touchstone.render.page.environment import filled
from touchstone.render.words import Language, Words


def aggregate_page(found: Aggregate, language: Language = "en") -> str:
    """The whole page: one file that loads nothing."""
    words = Words(language)
    return filled(
        "aggregate.html",
        words,
        title=aggregate_phrase(words, "title"),
        order=aggregate_phrase(words, "order"),
        agreement=aggregate_phrase(words, "agreement"),
        sheets=sheets(found, words),
    )
