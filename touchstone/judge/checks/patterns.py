"""Regular expressions that can be interrupted."""

from __future__ import annotations

import re
from collections.abc import Iterator

from touchstone.judge.checks.finding import CannotCheckError

TEXT_CHARS_MAX = 1_000_000
"""Beyond this a single attempt may outlast the time limit by seconds."""


def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern, compiled; CannotCheckError if Python does not take it."""
    try:
        return re.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise CannotCheckError(f"the pattern cannot be used: {error}") from None


def first_match(pattern: str, text: str, flags: int = 0) -> re.Match[str] | None:
    """The first match in the text, like `re.search`."""
    return next(matches(pattern, text, flags), None)


def matches(pattern: str, text: str, flags: int = 0) -> Iterator[re.Match[str]]:
    """Matches from left to right that do not overlap; behind an empty one the search moves on by one.

    Each place is tried from here: between two tries an alarm is heard, while the matcher's own loop
    over all places is deaf to it on a text like `aaaa…` and a pattern like `a*b` (measured).
    """
    if len(text) > TEXT_CHARS_MAX:
        raise CannotCheckError(f"{len(text)} characters are too many for a pattern")
    match_at = compiled(pattern, flags).match
    place = 0
    while place <= len(text):
        found = match_at(text, place)
        if found is None:
            place += 1
            continue
        yield found
        place = found.end() if found.end() > found.start() else place + 1
