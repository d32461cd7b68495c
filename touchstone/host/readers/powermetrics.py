"""`powermetrics --samplers thermal`: how hot the chip is, in the kernel's words.

Nothing here looks at cluster lines: their names change with every chip and system.
"""

from __future__ import annotations

import plistlib
import re
from xml.parsers.expat import ExpatError

from touchstone.host.readers.words import THERMAL_WORDS, other

_LEVEL = re.compile(r"^Current pressure level: (.+)$")
_REFUSALS = {
    "must be invoked as the superuser": "needs root",
    "a password is required": "sudo asks for a password",
    "a terminal is required": "sudo asks for a password",
    "is not in the sudoers file": "this user may not use sudo",
    "is not allowed to execute": "sudo does not allow it",
}


def thermal_words_of(data: bytes) -> list[str]:
    """The thermal word of every complete sample, oldest first.

    Two forms: text, or with `-f plist` one property list per sample, separated by NUL bytes. A last
    sample that is cut off is passed over.
    """
    if b"<plist" in data:
        return _words_of_plists(data)
    lines = data.decode("utf-8", errors="replace").split("\n")[:-1]
    words = (thermal_word_of_line(line) for line in lines)
    return [word for word in words if word is not None]


def thermal_word_of_line(line: str) -> str | None:
    """The thermal word of one complete line of text; None for every other line."""
    level = _LEVEL.match(line.rstrip())
    return _word(level[1]) if level else None


def refusal_of(complaint: str) -> str | None:
    """Why it did not measure, where it says so in a known way."""
    return next((reason for words, reason in _REFUSALS.items() if words in complaint), None)


def is_permission(refusal: str | None) -> bool:
    """Whether a line in sudoers would lift the refusal."""
    return refusal in _REFUSALS.values()


def _words_of_plists(data: bytes) -> list[str]:
    levels = (_level_of_plist(part) for part in data.split(b"\0"))
    return [_word(level) for level in levels if level]


def _level_of_plist(part: bytes) -> str | None:
    try:
        sample = plistlib.loads(part.strip(), fmt=plistlib.FMT_XML)
    except (ExpatError, ValueError, TypeError, AttributeError, IndexError, plistlib.InvalidFileException):
        return None
    level = sample.get("thermal_pressure") if isinstance(sample, dict) else None
    return level if isinstance(level, str) else None


def _word(level: str) -> str:
    word = level.strip().lower()
    return word if word in THERMAL_WORDS else other(level)
