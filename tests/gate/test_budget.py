from __future__ import annotations

import pytest

from tests.kit import builders
from touchstone.errors import RefusedError
from touchstone.gate.budget import Calls, calls_of, require_within

VARIANTS = {"none": None, "house": "Be brief."}


def test_answers_preflights_verdicts_and_the_self_test_are_counted() -> None:
    checks = builders.checks_suite(["A1", "A2"], variants=VARIANTS)
    assert calls_of(checks, [("A1", 1), ("A2", 3)], models=2) == Calls(models=16 + 2, judge=0)
    judged = builders.judged_suite(["A1", "A2"], variants=VARIANTS)
    assert calls_of(judged, [("A1", 1), ("A2", 1)], models=1) == Calls(models=4 + 1, judge=4 + 1)


def test_an_estimate_over_the_limit_is_refused_with_the_way_out() -> None:
    require_within(100, None)
    require_within(100, 100)
    with pytest.raises(RefusedError, match="101 calls, and max_calls is 100") as caught:
        require_within(101, 100)
    assert caught.value.hint is not None
    assert "--limit" in caught.value.hint
