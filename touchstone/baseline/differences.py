"""Where two JSON values differ, place by place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Difference = tuple[str, Any, Any]
"""(place as `a.b[0].c`, one value, the other); null where one side has nothing there."""


def differences(one: Any, other: Any, place: str = "") -> Iterator[Difference]:
    """Every place where the values differ, in the order of the second one."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*other, *one]):
            yield from differences(one.get(key), other.get(key), f"{place}.{key}" if place else str(key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differences(left, right, f"{place}[{number}]")
    # True equals 1 in Python, not in JSON.
    elif one != other or isinstance(one, bool) != isinstance(other, bool):
        yield place, one, other


def first_difference(one: Any, other: Any, place: str = "") -> Difference | None:
    """The first place where the values differ; they stand at `place` themselves."""
    return next(differences(one, other, place), None)
