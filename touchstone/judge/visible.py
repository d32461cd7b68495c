"""Model text made safe to print in one short line."""

from __future__ import annotations

EXCERPT_CHARS = 80


def visible(text: str, limit: int = EXCERPT_CHARS) -> str:
    """The beginning of a text with every control, format and lone surrogate character escaped."""
    cut = text[:limit]
    shown = "".join(char if char.isprintable() else _escaped(char) for char in cut)
    return shown + "…" if len(text) > limit else shown


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
