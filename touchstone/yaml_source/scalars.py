"""What a plain scalar means: one strict grammar, whatever YAML version a library speaks.

YAML 1.1 and 1.2 read some unquoted texts differently (`no`, `0123`, `1e3`, `12:30`). Where a text is due
such a scalar is refused with the quoting to use; numbers and truth values have one spelling each.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

from touchstone.yaml_source.problem import quoted

INTEGER_MAX = 2**64 - 1
DIGITS_MAX = 40

NULL_WORDS = frozenset({"", "~", "null"})
"""How nothing may be written."""

_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+")

_PLAIN_DIGITS = "write it in plain decimal digits, without leading zeros"

_WORDS = {
    "null": {"~", "null", "Null", "NULL", ""},
    "true": {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"},
    "false": {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"},
    "a merge key": {"<<"},
    "a default value": {"="},
}
_READ_AS = {word: meaning for meaning, words in _WORDS.items() for word in words}
_FORMS = [
    (re.compile(r"\d{4}-\d\d?-\d\d?([Tt ].*)?"), "a date"),
    (re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?"), "a number in base 60"),
    (re.compile(r"[-+]?0b[01_]+|[-+]?0x[0-9a-fA-F_]+|[-+]?0o?[0-7_]+|[-+]?[0-9][0-9_]*"), "a number"),
    (re.compile(r"[-+]?(\.[0-9][0-9_]*|[0-9][0-9_]*\.[0-9_]*|[0-9][0-9_]*)([eE][-+]?[0-9]+)?"), "a number"),
    (re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"), "a number"),
]


class ScalarError(ValueError):
    """A scalar that is not what is due; the hint says what to write."""

    def __init__(self, problem: str, hint: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint


def reading(text: str) -> str | None:
    """What some YAML version makes of a plain text other than a text; null when all agree it is one."""
    if text in _READ_AS:
        return _READ_AS[text]
    if text[0] not in "0123456789.+-":
        return None
    return next((meaning for form, meaning in _FORMS if form.fullmatch(text)), None)


def text_of(text: str) -> str:
    """A plain scalar as a text; ScalarError where any YAML version would retype it."""
    meaning = reading(text)
    if meaning is None:
        return text
    if text == "":
        raise ScalarError("a text is due and nothing stands here", 'write a text, or "" for an empty one')
    read_as = "nothing" if meaning == "null" else meaning
    raise ScalarError(f"a text is due, but YAML can read {text} as {read_as}", f"quote it: {quoted(text)}")


def integer_of(text: str) -> int:
    """A plain scalar as a whole number in decimal digits."""
    if _INTEGER.fullmatch(text) and len(text) <= DIGITS_MAX and abs(int(text)) <= INTEGER_MAX:
        return int(text)
    number = _meant(text)
    if number is not None and float(number).is_integer() and abs(number) <= INTEGER_MAX:
        raise ScalarError(f"a whole number is due, not {_cut(text)}", f"write {int(number)}")
    raise ScalarError(f"a whole number is due, not {_cut(text)}", _PLAIN_DIGITS)


def number_of(text: str) -> int | float:
    """A plain scalar as a number in decimal digits, with or without decimals."""
    if len(text) <= DIGITS_MAX:
        if _INTEGER.fullmatch(text):
            return int(text)
        if _DECIMAL.fullmatch(text):
            return float(text)
    number = _meant(text)
    raise ScalarError(
        f"a number in decimal digits is due, not {_cut(text)}",
        _PLAIN_DIGITS if number is None else f"write {_decimal(number)}",
    )


def boolean_of(text: str) -> bool:
    """A plain scalar as `true` or `false`, nothing else."""
    if text in ("true", "false"):
        return text == "true"
    meant = _READ_AS.get(text)
    hint = f"write {meant}" if meant in ("true", "false") else "write true or false"
    raise ScalarError(f"true or false is due, not {_cut(text)}", hint)


def value_of(text: str) -> Any:
    """A plain scalar where anything may stand: null, true, false, a number or a text."""
    if text in NULL_WORDS:
        return None
    if text in ("true", "false"):
        return text == "true"
    if len(text) <= DIGITS_MAX and (_INTEGER.fullmatch(text) or _DECIMAL.fullmatch(text)):
        return number_of(text)
    meaning = reading(text)
    if meaning is None:
        return text
    wanted = meaning if meaning in ("null", "true", "false") else None
    if meaning == "a number":
        number = _meant(text)
        wanted = None if number is None else _decimal(number)
    quoting = f"quote it: {quoted(text)}"
    raise ScalarError(
        f"YAML versions disagree on {_cut(text)}: {meaning}, or a text",
        f"write {wanted}, or {quoting}" if wanted else quoting,
    )


def _meant(text: str) -> int | float | None:
    """The number somebody had in mind, for a hint; null when that is not clear."""
    bare = text.replace("_", "").lower()
    if len(bare) > DIGITS_MAX or re.fullmatch(r"[-+]?0[0-9]+", bare):
        return None
    try:
        if re.fullmatch(r"[-+]?0[xbo][0-9a-f]+", bare):
            return int(bare, 0)
        number = float(bare) if re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", bare) else None
    except ValueError:
        return None
    return number if number is not None and math.isfinite(number) else None


def _decimal(number: int | float) -> str:
    if float(number).is_integer() and abs(number) <= INTEGER_MAX:
        return str(int(number))
    return format(Decimal(repr(number)), "f") if 1e-9 <= abs(number) < 1e16 else "it in decimal digits"


def _cut(text: str) -> str:
    return text if text and len(text) <= DIGITS_MAX else quoted(text)
