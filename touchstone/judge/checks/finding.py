"""What a check looks at, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer as the checks see it. Times in seconds; None where not measured."""

    text: str
    completion_tokens: int | None = None
    ttft_s: float | None = None
    e2e_s: float | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """Score 0…1 and one short line saying why."""

    score: float
    detail: str


class CannotCheckError(Exception):
    """The check has no answer to give. It becomes the status error, never a pass and never a fail."""


class Runner(Protocol):
    """One check type: the pack's check and an answer in, a finding out.

    Raises CannotCheckError where the answer cannot be looked at.
    """

    def __call__(self, check: Any, answer: Answer, /) -> Finding: ...


def yes_or_no(passed: bool, yes: str, no: str) -> Finding:
    """A finding without halves."""
    return Finding(1.0, yes) if passed else Finding(0.0, no)
