"""The words of a tick, from harmless to worst, and the form of a word we do not know."""

from __future__ import annotations

from collections.abc import Iterable

PRESSURE_WORDS = ("normal", "warn", "critical")
THERMAL_WORDS = ("nominal", "light", "moderate", "heavy", "trapping", "sleeping")
POWER_WORDS = ("ac", "battery")

_OTHER = "other:"


def other(word: str) -> str:
    """A word outside the vocabulary, kept as read."""
    return _OTHER + word.strip()


def worst_of(words: Iterable[str | None], scale: tuple[str, ...]) -> str | None:
    """The worst word read; None when none was.

    An unknown word ranks right above the harmless one: it may not pass for it, nor hide a known evil.
    """
    read = [word for word in words if word is not None]
    return max(read, key=lambda word: _rank(word, scale), default=None)


def _rank(word: str, scale: tuple[str, ...]) -> float:
    return scale.index(word) if word in scale else 0.5
