"""`not_regex`: the pattern is not found in the answer."""

from __future__ import annotations

from touchstone.judge.checks.finding import Answer, Finding
from touchstone.judge.checks.patterns import first_match
from touchstone.judge.visible import visible
from touchstone.pack.checks import NotRegex


def run(check: NotRegex, answer: Answer) -> Finding:
    """Search the whole answer."""
    found = first_match(check.pattern, answer.text)
    if found is None:
        return Finding(1.0, "pattern not found")
    return Finding(0.0, f"found “{visible(found.group(), 40)}”")
