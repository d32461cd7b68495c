"""`tokens`: at most so many completion tokens, as the engine counted them."""

from __future__ import annotations

from touchstone.judge.checks.bounds import found_within
from touchstone.judge.checks.finding import Answer, CannotCheckError, Finding
from touchstone.pack.checks import Tokens


def run(check: Tokens, answer: Answer) -> Finding:
    """Compare the engine's count; nothing is estimated where there is none."""
    if answer.completion_tokens is None:
        raise CannotCheckError("the engine counted no completion tokens")
    return found_within(answer.completion_tokens, None, check.max, "tokens")
