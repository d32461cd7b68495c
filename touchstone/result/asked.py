"""What one prompt's answers are scored on: dimensions, checks that count, the class."""

from __future__ import annotations

from collections.abc import Mapping
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


def asked_of(suite: Suite, prompt: str) -> Asked:
    """What the suite asks of a prompt. A check without a line in the rules has the one of its type."""
    rubric, rules, weights = suite.cases[prompt].rubric, suite.rules, suite.weights
    return Asked(
        scale_max=suite.scale_max,
        weights={dimension: weights[dimension] for dimension in rubric.dimensions},
        lines={
            dimension: line
            for dimension in rubric.dimensions
            if (line := rules.dimensions[dimension].threshold) is not None
        },
        checks={
            check["id"]: _check_line(check, rules.checks.get(f"{prompt}/{check['id']}"))
            for check in rubric.checks
            if _TYPES[check["type"]].counts
        },
        label=rubric.label,
    )


def listed_only(rubric: Rubric) -> set[str]:
    """Ids of the checks that never count."""
    return {check["id"] for check in rubric.checks if not _TYPES[check["type"]].counts}


def _check_line(check: Mapping[str, Any], line: Line | None) -> CheckLine:
    threshold = line.threshold if line else None
    return CheckLine(
        weight=check["weight"],
        threshold=_TYPES[check["type"]].default_threshold if threshold is None else threshold,
    )
