"""What a baseline that a change brings may stand for, and what it may do to the verdict."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit import builders
from tests.kit.compared import baseline, compared, repeating
from tests.kit.measured import kept, three
from touchstone.baseline.brought import settled, strayed, unexplained
from touchstone.baseline.comparison import Comparison
from touchstone.baseline.schema import Baseline
from touchstone.pack.schema import KoRule
from touchstone.pack.suite import JudgeInstrument, Suite

PROMPTS = [f"P{n:02}" for n in range(10)]
GOOD = dict.fromkeys(PROMPTS, (4, 4))
SUITE = builders.judged_suite(PROMPTS, variants={"house": "Be kind."})


def brought(suite: Suite = SUITE, **options: Any) -> Baseline:
    """A baseline of three good runs."""
    return kept(three(suite, GOOD), **options)


def verdict(**fields: Any) -> Comparison:
    """The verdict on a run that answers as agreed, with fields of another one."""
    return compared(baseline(SUITE, GOOD), repeating(SUITE, GOOD)).model_copy(update=fields)


FINE = verdict()
WORSE = verdict(status="worse", exit=1, reason="suite")
NOT_JUDGED = verdict(status="not_judged", exit=2, reason="not_judged")
SAFETY_GONE = verdict(status="not_comparable", exit=3, reason="gone_safety")
SAFETY_CHANGED = verdict(status="not_comparable", exit=3, reason="changed_safety")
ANOTHER_JUDGE = verdict(status="not_comparable", exit=3, reason="instrument")


# --- may it stand ------------------------------------------------------------------------------------


def test_a_baseline_of_this_tree_that_replaces_the_bases_may_stand() -> None:
    old = brought()
    assert strayed(brought(reason="again", replaces=old), old, SUITE) == []
    assert strayed(brought(), None, SUITE) == []


def test_one_that_replaces_another_is_named_with_both_digests() -> None:
    old, other = brought(), brought(reason="other")
    (fault,) = strayed(brought(replaces=other), old, SUITE)
    assert fault == f"it replaces {other.digest}, and the base has {old.digest}"
    assert strayed(brought(), old, SUITE) == [f"it replaces nothing, and the base has {old.digest}"]
    assert strayed(brought(replaces=old), None, SUITE) == [
        f"it replaces {old.digest}, and the base has no baseline"
    ]


def test_a_prompt_that_is_not_the_trees_is_named() -> None:
    tree = builders.judged_suite(PROMPTS, variants={"house": "Be curt.", "new": "Be."})
    assert strayed(brought(), None, tree) == [
        "the prompt of variant house is not the tree's", "the prompt of variant new is not the tree's",
    ]  # fmt: skip


def test_a_case_that_is_not_the_trees_is_named() -> None:
    tree = builders.judged_suite([*PROMPTS[1:], "P99"], variants={"house": "Be kind."})
    assert strayed(brought(), None, tree) == ["case P00 is not the tree's", "case P99 is not the tree's"]


def test_a_line_that_is_not_the_trees_is_named_with_both_values() -> None:
    tree = builders.judged_suite(PROMPTS, variants={"house": "Be kind."}, thresholds={"Q1": 1.5})
    (fault,) = strayed(brought(), None, tree)
    assert fault.endswith("in it, 1.5 in the tree")


def test_a_judges_version_is_observed_and_never_set() -> None:
    judge = SUITE.instrument.judge
    assert judge is not None
    assert isinstance(judge, JudgeInstrument)
    seen = judge.model_copy(update={"version": "b4711"})
    measured = SUITE.model_copy(update={"instrument": SUITE.instrument.model_copy(update={"judge": seen})})
    assert strayed(brought(measured), None, SUITE) == []


# --- what it has to explain --------------------------------------------------------------------------


def test_nothing_worse_needs_no_reason() -> None:
    assert unexplained(brought(), FINE) == []


@pytest.mark.parametrize("reason", [None, "", "  \n"])
def test_what_is_worse_or_gone_needs_one(reason: str | None) -> None:
    assert unexplained(brought(reason=reason), WORSE) == ["worse"]
    gone = WORSE.model_copy(update={"rows": [FINE.rows[0].model_copy(update={"state": "gone"})]})
    assert unexplained(brought(reason=reason), gone) == ["worse", "rows_gone"]
    assert unexplained(brought(reason="wanted"), gone) == []


def test_safety_that_is_not_confirmed_needs_one() -> None:
    suite = builders.judged_suite(PROMPTS, ko_rule=KoRule(dimension="Q1", threshold=4))
    fell = kept(three(suite, GOOD))
    assert {cell.quality.safety_passed for cell in fell.cells} == {False}
    assert unexplained(fell, FINE) == ["safety"]
    assert unexplained(brought(), SAFETY_CHANGED) == ["safety"]
    assert unexplained(brought(reason="asked more plainly"), SAFETY_CHANGED) == []


# --- what it does to the verdict ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "before", [FINE, WORSE, ANOTHER_JUDGE, SAFETY_CHANGED], ids=lambda before: before.reason
)
def test_with_a_reason_a_run_that_keeps_to_it_is_a_promotion(before: Comparison) -> None:
    found = settled(before, FINE, brought(reason="wanted"), accept=True)
    assert (found.status, found.exit) == ("promotion", 0)
    assert found.accepted == (None if before is FINE else "wanted")
    assert (found.rows, found.cells, found.counts) == (before.rows, before.cells, before.counts)


@pytest.mark.parametrize(
    ("before", "reason", "accept"),
    [
        (WORSE, None, True),
        (SAFETY_GONE, None, True),
        (SAFETY_CHANGED, None, True),
        (WORSE, "wanted", False),
        (ANOTHER_JUDGE, "wanted", False),
        (NOT_JUDGED, "wanted", True),
    ],
    ids=[
        "no-reason",
        "safety-gone",
        "safety-changed",
        "worse-not-accepted",
        "judge-not-accepted",
        "not-judged",
    ],
)
def test_without_it_the_verdict_stands(before: Comparison, reason: str | None, accept: bool) -> None:
    assert settled(before, FINE, brought(reason=reason), accept=accept) == before


@pytest.mark.parametrize("before", [FINE, WORSE, ANOTHER_JUDGE], ids=["fine", "worse", "another-judge"])
def test_a_run_that_is_worse_than_it_is_worse(before: Comparison) -> None:
    found = settled(before, WORSE, brought(reason="wanted"), accept=True)
    assert (found.status, found.exit) == ("worse", 1)
    assert found.reason == ("suite" if before is WORSE else "own_baseline")


def test_a_run_that_no_ruler_fits_to_it_lifts_nothing() -> None:
    assert settled(WORSE, ANOTHER_JUDGE, brought(reason="wanted"), accept=True) == WORSE
