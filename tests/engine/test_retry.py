"""Pauses between tries."""

from __future__ import annotations

import pytest

from touchstone.engine.retry import Tries

NOW = 1_767_225_600.0  # Thu, 01 Jan 2026 00:00:00 GMT


def pauses(
    again: str, retry_after: str | None = None, *, retries: int = 3, load_s: float = 10
) -> list[float]:
    tries = Tries(retries, load_s)
    given = []
    while (pause := tries.pause_after(again, retry_after, 0.5, NOW)) is not None:  # type: ignore[arg-type]
        given.append(pause)
    return given


def test_one_two_four_and_no_more() -> None:
    assert pauses("yes") == [1, 2, 4]
    assert pauses("yes", retries=0) == []
    assert pauses("no") == []


def test_many_retries_never_pause_longer_than_a_minute() -> None:
    assert max(pauses("yes", retries=10)) == 60


@pytest.mark.parametrize(
    ("value", "pause"),
    [
        ("2", 2),
        ("0", 0),
        ("1.5", 1.5),
        (" 7 ", 7),
        ("61", 60),
        ("Thu, 01 Jan 2026 00:00:20 GMT", 20),
        ("Wed, 31 Dec 2025 23:00:00 GMT", 0),
        ("Thu, 01 Jan 2026 09:00:00 GMT", 60),
        ("soon", 1),
        ("-3", 1),
        ("", 1),
        ("٣", 1),
        ("1e9", 1),
    ],
)
def test_retry_after(value: str, pause: float) -> None:
    assert pauses("yes", value, retries=1) == [pause]


def test_loading_waits_until_its_own_limit_and_costs_no_retry() -> None:
    assert pauses("loading", load_s=12) == [1, 2, 4]  # 1.5 + 2.5 + 4.5, the next 4.5 would be too much
    assert pauses("loading", "0", load_s=5) == [1, 1, 1]  # a pause of nothing would never end
