"""Text from outside made safe to print: control characters become visible, nothing is interpreted."""

from __future__ import annotations

import unicodedata

_KEPT = frozenset("\n\t")
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d")


def visible(text: str, keep: frozenset[str] = _KEPT) -> str:
    """The text with control, bidirectional and invisible characters written as escapes.

    Zero-width joiners stay: scripts and emoji need them.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character, keep) for character in text)


def one_line(text: str, width: int | None = None) -> str:
    """The text on one line, white space folded, cut to `width` columns with an ellipsis."""
    folded = visible(" ".join(text.split()), keep=frozenset())
    if width is None or len(folded) <= width:
        return folded
    return folded[: max(width - 1, 0)].rstrip() + "…"


def _shown(character: str, keep: frozenset[str]) -> str:
    if character in keep or character in _JOINERS:
        return character
    if unicodedata.category(character) not in _HIDDEN_CATEGORIES:
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
