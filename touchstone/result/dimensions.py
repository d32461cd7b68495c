"""What a cell got in each dimension."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from touchstone.result.numbers import mean
from touchstone.result.schema import Row


def dim_means(rows: Sequence[Row]) -> dict[str, float]:
    """Mean score of a cell in each dimension: over its rows that have a pct, each row counting once."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if row.pct is not None:
            for dimension, value in _row_means(row).items():
                found.setdefault(dimension, []).append(value)
    return {dimension: mean(values) for dimension, values in found.items()}


def dim_scores(means: Mapping[str, float]) -> dict[str, int]:
    """The means as whole scale points, rounded half up."""
    return {dimension: math.floor(value + 0.5) for dimension, value in means.items()}


def _row_means(row: Row) -> dict[str, float]:
    """Mean score of a row in each dimension it was scored in, over its repeats."""
    scores: dict[str, list[float]] = {}
    for repeat in row.repeats:
        for dimension, score in repeat.scores.items():
            scores.setdefault(dimension, []).append(score)
    return {dimension: mean(values) for dimension, values in scores.items()}
