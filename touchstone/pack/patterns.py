"""Whether a regular expression from a pack can be used, and can tell answers apart."""

from __future__ import annotations

import re
import warnings
from typing import NamedTuple

PATTERN_CHARS_MAX = 10_000

_UNLIKE_TEXTS = ("", "a", "Z 9.", "\n", "ä\n-")


class Fault(NamedTuple):
    """What is wrong, and what to do about it."""

    text: str
    hint: str | None = None


def search_fault(pattern: str, flags: int = 0) -> Fault | None:
    """Why a pattern that must be found cannot serve: it does not compile, or the empty text has it."""
    compiled = _compiled(pattern, flags)
    if isinstance(compiled, Fault):
        return compiled
    if compiled.search(""):
        return Fault(
            "the pattern matches the empty text, so it is found in every answer", "make it need a character"
        )
    return None


def shun_fault(pattern: str) -> Fault | None:
    """Why a pattern that must not be found cannot serve: it does not compile, or every text has it."""
    compiled = _compiled(pattern, 0)
    if isinstance(compiled, Fault):
        return compiled
    if all(compiled.search(text) for text in _UNLIKE_TEXTS):
        return Fault(
            "the pattern matches every text, so the check can never pass", "name what must not be there"
        )
    return None


def compile_fault(pattern: str) -> Fault | None:
    """Why a pattern does not compile."""
    compiled = _compiled(pattern, 0)
    return compiled if isinstance(compiled, Fault) else None


def _compiled(pattern: str, flags: int) -> re.Pattern[str] | Fault:
    if len(pattern) > PATTERN_CHARS_MAX:
        return Fault(f"the pattern has {len(pattern)} characters, the limit is {PATTERN_CHARS_MAX}")
    try:
        with warnings.catch_warnings():
            # A pattern that reads differently in a later Python is not a fixed ruler.
            warnings.simplefilter("error")
            return re.compile(pattern, flags)
    except re.error as error:
        place = "" if error.pos is None else f" at character {error.pos + 1}"
        return Fault(
            f"bad pattern: {error.msg}{place}", "patterns are Python's; double a backslash in double quotes"
        )
    except (RecursionError, OverflowError):
        return Fault("bad pattern: nested too deeply, or a count too large", "make it simpler")
    except Warning as warning:
        return Fault(f"bad pattern: {warning}", "escape a literal [ as \\[")
