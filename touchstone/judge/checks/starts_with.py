"""`starts_with`: the answer, leading white space aside, starts with a piece of text."""

from __future__ import annotations

from touchstone.judge.checks.finding import Answer, Finding, yes_or_no
from touchstone.judge.checks.needle import needle_and_text, quoted
from touchstone.pack.checks import StartsWith


def run(check: StartsWith, answer: Answer) -> Finding:
    """Look for `value`."""
    needle, text = needle_and_text(check, answer.text.lstrip())
    return yes_or_no(
        text.startswith(needle),
        f"starts with {quoted(check.value)}",
        f"does not start with {quoted(check.value)}",
    )
