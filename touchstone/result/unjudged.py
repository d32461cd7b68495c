"""How many rows without a verdict leave nothing to say."""

from __future__ import annotations

UNJUDGED_SHARE = 0.05


def too_many_unjudged(unjudged: int, of: int) -> bool:
    """Whether all of `of` rows, or more than one and 5 % of them, have no verdict."""
    return unjudged == of > 0 or unjudged > max(1, UNJUDGED_SHARE * of)
