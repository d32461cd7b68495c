"""`numeric`: the first number in the answer is near enough to a value.

The grammar: digits, an optional sign, an optional fraction behind a point or a comma, an optional
exponent, thousands grouped by threes with a point, comma, apostrophe, underscore or (narrow, no-break)
blank. Where a number can be read in two ways, as `1.234` can, both readings are tried: if they agree the
check is decided, else it is an error. A date, time, fraction or version number is never read as a number.
"""

from __future__ import annotations

import re
from decimal import Decimal

from touchstone.judge.checks.finding import Answer, CannotCheckError, Finding, yes_or_no
from touchstone.judge.checks.patterns import first_match
from touchstone.judge.visible import visible
from touchstone.pack.checks import Numeric

DIGITS_MAX = 400

_GROUP = r".,'’_\u00a0\u202f "
_NUMBER = (
    r"(?<![^\W_])[+\-−]?[.,]?\d+"  # not glued to a word
    r"(?:(?:[.,:/'’_\-\u00a0\u202f]\d+)|(?: \d{3}(?!\d)))*"
    r"(?:[eE][+\-]?\d+)?"
)
_PARTS = re.compile(r"(?P<sign>[+\-−]?)(?P<body>.*?)(?P<exponent>(?:[eE][+\-]?\d+)?)")
_DECIMAL = re.compile(r"\d+(?:[.,]\d+)?|[.,]\d+")
_GROUPED = re.compile(rf"[1-9]\d{{0,2}}(?:(?P<by>[{_GROUP}])\d{{3}})(?:(?P=by)\d{{3}})*(?P<rest>[.,]\d+)?")


def run(check: Numeric, answer: Answer) -> Finding:
    """Find the number (or group 1 of `pattern`, else its whole match) and compare exactly."""
    token = _found(check, answer.text)
    if token is None:
        return Finding(0.0, "no number found")
    verdicts = {reading: _is_near(reading, check) for reading in readings(token)}
    shown = " or ".join(f"{reading:f}" if abs(reading) < 10**15 else f"{reading:e}" for reading in verdicts)
    if not verdicts:
        raise CannotCheckError(f"“{visible(token, 40)}” is not a number in a known form")
    if len(set(verdicts.values())) > 1:
        raise CannotCheckError(f"“{visible(token, 40)}” can be read as {shown}")
    wanted = f"{check.value:g}" + (f" ± {check.within:g}" if check.within else "")
    return yes_or_no(all(verdicts.values()), shown, f"{shown}, wanted {wanted}")


def readings(token: str) -> list[Decimal]:
    """Every way to read a token as a number; none if it is not one."""
    if len(token) > DIGITS_MAX:
        return []
    parts = _PARTS.fullmatch(token)
    if parts is None:
        return []
    body, exponent = parts["body"], parts["exponent"]
    forms = []
    if _DECIMAL.fullmatch(body):
        forms.append(body.replace(",", "."))
    grouped = _GROUPED.fullmatch(body)
    if grouped and not exponent and not (grouped["rest"] or "").startswith(grouped["by"]):
        rest = grouped["rest"] or ""
        whole = body.removesuffix(rest).replace(grouped["by"], "")
        forms.append(whole + rest.replace(",", "."))
        if grouped["by"] == " ":
            forms.append(body.split(" ")[0])
    sign = "-" if parts["sign"] in {"-", "−"} else ""
    return [Decimal(sign + form + exponent) for form in forms]


def _found(check: Numeric, text: str) -> str | None:
    if check.pattern is None:
        found = first_match(_NUMBER, text)
        return None if found is None else found.group()
    found = first_match(check.pattern, text)
    if found is None:
        return None
    captured = found.group(1) if found.re.groups else found.group()
    return captured.strip() if captured is not None else None


def _is_near(number: Decimal, check: Numeric) -> bool:
    return abs(number - Decimal(repr(check.value))) <= Decimal(repr(check.within))
