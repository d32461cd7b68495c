"""`not_contains`: the answer does not contain a piece of text."""

from __future__ import annotations

from touchstone.judge.checks.finding import Answer, Finding, yes_or_no
from touchstone.judge.checks.needle import needle_and_text, quoted
from touchstone.pack.checks import NotContains


def run(check: NotContains, answer: Answer) -> Finding:
    """Look for `value`."""
    needle, text = needle_and_text(check, answer.text)
    return yes_or_no(
        needle not in text, f"does not contain {quoted(check.value)}", f"contains {quoted(check.value)}"
    )
