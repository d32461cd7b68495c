"""`count`: how often the pattern is found."""

from __future__ import annotations

from touchstone.judge.checks.bounds import found_within
from touchstone.judge.checks.finding import Answer, Finding
from touchstone.judge.checks.patterns import matches
from touchstone.pack.checks import Count


def run(check: Count, answer: Answer) -> Finding:
    """Count matches that do not overlap."""
    times = sum(1 for _ in matches(check.pattern, answer.text))
    return found_within(times, check.min, check.max, "matches")
