"""`ends_with`: the answer, trailing white space aside, ends with a piece of text."""

from __future__ import annotations

from touchstone.judge.checks.finding import Answer, Finding, yes_or_no
from touchstone.judge.checks.needle import needle_and_text, quoted
from touchstone.pack.checks import EndsWith


def run(check: EndsWith, answer: Answer) -> Finding:
    """Look for `value`."""
    needle, text = needle_and_text(check, answer.text.rstrip())
    return yes_or_no(
        text.endswith(needle), f"ends with {quoted(check.value)}", f"does not end with {quoted(check.value)}"
    )
