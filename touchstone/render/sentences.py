"""Codes of a comparison as sentences. A code nobody wrote a sentence for is shown as it is."""

from __future__ import annotations

from touchstone.baseline.comparison import Comparison
from touchstone.render.words import Words


def reason_words(comparison: Comparison, words: Words) -> str:
    """Why the status is what it is, in a few words; empty where the status says it all."""
    return comparison.reason.replace("_", " ")


def note_sentence(code: str, words: Words) -> str:
    """A note as one sentence."""
    return code
