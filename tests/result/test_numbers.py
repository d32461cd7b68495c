"""Means and percentiles."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.files import canonical
from touchstone.result.numbers import mean, median, percentile


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([], 0.5, None),
        ([7.0], 0.95, 7.0),
        ([1, 2, 3, 4], 0.5, 2.5),
        ([1, 2, 3, 4], 0.95, 3.85),
        ([4, 1, 3, 2], 0.25, 1.75),
        ([1, 2, 3, 4, 5], 0.0, 1),
        ([1, 2, 3, 4, 5], 1.0, 5),
    ],
)
def test_percentiles_interpolate_as_type_7(values: list[float], share: float, expected: float | None) -> None:
    assert percentile(values, share) == pytest.approx(expected)


@given(st.lists(st.floats(min_value=-1e6, max_value=1e6), min_size=2, max_size=30))
def test_percentiles_agree_with_the_standard_library(values: list[float]) -> None:
    expected = statistics.quantiles(values, n=20, method="inclusive")
    found = [percentile(values, step / 20) for step in range(1, 20)]
    assert found == pytest.approx(expected, abs=1e-6)
    assert median(values) == pytest.approx(statistics.median(values), abs=1e-6)


@given(st.lists(st.floats(min_value=-1e6, max_value=1e6), min_size=1, max_size=30))
def test_a_number_in_memory_is_the_number_on_disk(values: list[float]) -> None:
    for found in (mean(values), median(values), percentile(values, 0.95)):
        assert canonical(found) == found
