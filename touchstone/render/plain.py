"""Text from outside made safe to print: control characters become visible, nothing is interpreted."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_KEPT = frozenset("\n\t")
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d")
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2065\u2800\u3164\uffa0")
"""Letters, marks and one unassigned place that take no ink."""
_SUSPECT = re.compile(r"[^ -~]")
_COMMAND = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)


def visible(text: str, keep: frozenset[str] = _KEPT) -> str:
    """The text with control, bidirectional and invisible characters written as escapes.

    Zero-width joiners stay: scripts and emoji need them.
    """
    if text.isascii() and text.isprintable():
        return text
    return _SUSPECT.sub(lambda found: found[0] if found[0] in keep else _shown(found[0]), text)


def one_line(text: str, width: int | None = None) -> str:
    """The text on one line, white space folded, cut to `width` columns with an ellipsis."""
    # A long text need not be read to its end to know how it begins.
    given = text if width is None else text[: 4 * width + 1000]
    folded = visible(" ".join(given.split()), keep=frozenset())
    if width is None or (len(folded) <= width and len(given) == len(text)):
        return folded
    return folded[: max(width - 1, 0)].rstrip() + "…"


def in_one_line(message: str) -> str:
    """A message of several lines, its reasons parted by semicolons. Not made safe to print."""
    first, *others = [line.strip() for line in message.split("\n") if line.strip()] or [""]
    told = "; ".join(others)
    return f"{first}{' ' if first.endswith(':') else '; '}{told}" if told else first


def for_log(text: str) -> str:
    """Text made visible, of which a workflow's runner takes no line for a command."""
    return without_commands(visible(text))


def without_commands(text: str) -> str:
    """Text none of whose lines a workflow's runner obeys: a space of no width parts `::x::` and `##[x]`."""
    return _COMMAND.sub("\\1:\u200b", text).replace("##[", "##\u200b[")


def without_commands_in_markup(text: str) -> str:
    """As `without_commands`, for HTML and XML: whoever reads the document meets the very same text."""
    return _COMMAND.sub("\\1&#58;", text).replace("##[", "#&#35;[")


@lru_cache(maxsize=4096)
def _shown(character: str) -> str:
    if character in _JOINERS or not _is_hidden(character):
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _is_hidden(character: str) -> bool:
    code = ord(character)
    special = 0xFFF0 <= code <= 0xFFF8 or 0xE0000 <= code <= 0xE0FFF
    nobody = 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE
    return character in _UNSEEN or special or nobody or unicodedata.category(character) in _HIDDEN_CATEGORIES
