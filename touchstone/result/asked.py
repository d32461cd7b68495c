"""What one prompt's answers are scored on: dimensions, checks that count, the class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from touchstone.pack.checks import Check, CheckBase
from touchstone.pack.suite import Line, Rubric, Suite

_TYPES: dict[str, type[CheckBase]] = {
    get_args(kind.model_fields["type"].annotation)[0]: kind for kind in get_args(get_args(Check)[0])
}


@dataclass(frozen=True, slots=True)
class CheckLine:
    """How much a check counts, and the score 0…1 it must reach."""

    weight: float
    threshold: float


@dataclass(frozen=True, slots=True)
class Asked:
    """What the answers to one prompt are scored on, and where the lines are."""

    scale_max: int | None
    weights: Mapping[str, float]
    """Of the dimensions asked."""
    lines: Mapping[str, float]
    """Thresholds of those that have one, in scale points."""
    checks: Mapping[str, CheckLine]
    """Those that count."""
    label: str | None
    """The class expected."""


def asked_of(suite: Suite, prompts: Iterable[str]) -> dict[str, Asked]:
    """What the suite asks of some prompts. A check without a line in the rules has that of its type."""
    weights, scale_max, rules = suite.weights, suite.scale_max, suite.rules
    lines = {id_: line.threshold for id_, line in rules.dimensions.items() if line.threshold is not None}
    return {
        prompt: Asked(
            scale_max=scale_max,
            weights={dimension: weights[dimension] for dimension in rubric.dimensions},
            lines={dimension: lines[dimension] for dimension in rubric.dimensions if dimension in lines},
            checks={
                check["id"]: _check_line(check, rules.checks.get(f"{prompt}/{check['id']}"))
                for check in rubric.checks
                if _TYPES[check["type"]].counts
            },
            label=rubric.label,
        )
        for prompt, rubric in ((prompt, suite.cases[prompt].rubric) for prompt in prompts)
    }


def listed_only(rubric: Rubric) -> set[str]:
    """Ids of the checks that never count."""
    return {check["id"] for check in rubric.checks if not _TYPES[check["type"]].counts}


def _check_line(check: Mapping[str, Any], line: Line | None) -> CheckLine:
    threshold = line.threshold if line else None
    return CheckLine(
        weight=check["weight"],
        threshold=_TYPES[check["type"]].default_threshold if threshold is None else threshold,
    )
