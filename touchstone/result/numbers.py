"""Arithmetic to the precision our files keep, so a number in memory is the number on disk."""

from __future__ import annotations

import math
from collections.abc import Sequence

from touchstone.files import JSON_DECIMALS


def kept(value: float) -> float:
    """The value as a file holds it."""
    return round(value, JSON_DECIMALS)


def mean(values: Sequence[float]) -> float:
    """The mean of at least one value."""
    return kept(math.fsum(values) / len(values))


def median(values: Sequence[float]) -> float | None:
    """The median; null of none."""
    return percentile(values, 0.5)


def percentile(values: Sequence[float], share: float) -> float | None:
    """The value below which `share` (0…1) of the values lie: linear interpolation, type 7. Null of none."""
    if not values:
        return None
    ordered = sorted(values)
    place = (len(ordered) - 1) * share
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return kept(ordered[below] + (ordered[above] - ordered[below]) * (place - below))
