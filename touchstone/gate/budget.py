"""What a measurement will cost, and the limits a person set on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.errors import RefusedError
from touchstone.pack.suite import Suite


@dataclass(frozen=True)
class Calls:
    """Requests a run will make: the models' answers and preflights, the judge's verdicts and calibration."""

    models: int
    judge: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.models + self.judge


def calls_of(suite: Suite, plan: Sequence[tuple[str, int]], models: int) -> Calls:
    """The calls of one run of a plan over so many models, where nothing has to be asked twice."""
    answers = models * len(suite.variants) * sum(repeats for _, repeats in plan)
    judge = suite.instrument.judge
    if judge is None:
        return Calls(models=answers + models, judge=0)
    judged = (
        models
        * len(suite.variants)
        * sum(repeats for prompt, repeats in plan if suite.cases[prompt].rubric.dimensions)
    )
    return Calls(
        models=answers + models, judge=judge.samples * (judged + len(suite.instrument.calibration)) + 1
    )


def require_within(calls: int, limit: int | None) -> None:
    """Refuse before the start what would go over `max_calls`."""
    if limit is not None and calls > limit:
        raise RefusedError(
            f"this would take {calls} calls, and max_calls is {limit}",
            "Raise --max-calls, or ask less: --only, --limit.",
        )
