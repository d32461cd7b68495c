"""`length`: characters, words or lines of the answer, trailing white space aside."""

from __future__ import annotations

from touchstone.judge.checks.bounds import found_within
from touchstone.judge.checks.finding import Answer, Finding
from touchstone.pack.checks import Length


def run(check: Length, answer: Answer) -> Finding:
    """Characters are Unicode code points, words stand between white space, lines end with a newline."""
    text = answer.text.rstrip()
    if check.unit == "chars":
        size = len(text)
    elif check.unit == "words":
        size = len(text.split())
    else:
        size = text.count("\n") + 1 if text else 0
    return found_within(size, check.min, check.max, check.unit)
