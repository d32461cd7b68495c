"""What the checks with a lower and an upper bound share."""

from __future__ import annotations

from touchstone.judge.checks.finding import Finding, yes_or_no


def found_within(value: int, least: int | None, most: int | None, unit: str) -> Finding:
    """Whether a whole number lies between two inclusive bounds, either of which may be open."""
    inside = (least is None or value >= least) and (most is None or value <= most)
    bounds = f"{'' if least is None else least}…{'' if most is None else most}"
    return yes_or_no(inside, f"{value} {unit}", f"{value} {unit}, wanted {bounds}")
