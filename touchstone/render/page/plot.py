"""Where things stand in the drawings: positions in percent of the width, computed from scores alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

EDGE = 3.0
"""Percent of the width left free at each side, so that a dot on the edge is a whole dot."""
TICKS = (0, 25, 50, 75, 100)
ZERO_SPAN_LEAST = 10.0
"""Points each side of zero that an interval's axis shows at least."""


@dataclass(frozen=True)
class Axis:
    """A range of values laid over the width."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Position in percent; a value outside the range stands at its edge."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(EDGE + (100 - 2 * EDGE) * share, 2)


PERCENT = Axis(0, 100)


@dataclass(frozen=True)
class Dumbbell:
    """Old and new on one line; null where there is none.

    `band` is (left, width) of the reference's own spread, `dots` the further draws of the run, `mark` a
    threshold.
    """

    old: float | None
    new: float | None
    band: tuple[float, float] | None = None
    dots: Sequence[float] = ()
    mark: float | None = None


def dumbbell(
    old: float | None,
    new: float | None,
    *,
    axis: Axis = PERCENT,
    spread: Sequence[float | None] = (),
    draws: Sequence[float | None] = (),
    threshold: float | None = None,
) -> Dumbbell:
    """A row's or a dimension's old and new value, with what is known of how much either varies."""
    known = [axis.at(value) for value in spread if value is not None]
    return Dumbbell(
        old=None if old is None else axis.at(old),
        new=None if new is None else axis.at(new),
        band=(min(known), round(max(known) - min(known), 2)) if len(known) > 1 else None,
        dots=sorted({axis.at(value) for value in draws if value is not None}) if len(draws) > 1 else (),
        mark=None if threshold is None else axis.at(threshold),
    )


@dataclass(frozen=True)
class IntervalPlot:
    """A difference on an axis around zero: (left, width) of where it could be, and where it is."""

    zero: float
    bar: tuple[float, float]
    at: float


def interval_axis(values: Iterable[float]) -> Axis:
    """An axis around zero that holds all values, so that the cells of a page can be read side by side."""
    reach = max([ZERO_SPAN_LEAST, *(abs(value) for value in values)])
    return Axis(-reach, reach)


def interval_plot(axis: Axis, difference: float, interval: tuple[float, float]) -> IntervalPlot:
    """A difference and where it could be."""
    low, high = (axis.at(value) for value in interval)
    return IntervalPlot(axis.at(0), (low, round(high - low, 2)), axis.at(difference))
