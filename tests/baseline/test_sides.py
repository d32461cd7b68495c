"""Sides of a comparison: the same rows, whether they come from runs or from a baseline made of them."""

from __future__ import annotations

import pytest

from tests.kit import builders
from tests.kit.builders import Outcome, Repeats
from tests.kit.measured import kept, three
from touchstone.baseline.sides import side_of_baseline, side_of_runs
from touchstone.baseline.store import MeasuredRun, dump, parse
from touchstone.errors import BadInputError
from touchstone.pack.checks import Check, Contains, Latency, Levenshtein
from touchstone.pack.schema import KoRule
from touchstone.pack.suite import Line, Suite

JUDGED = builders.judged_suite(
    ("A1", "A2"), thresholds={"Q1": 3.0}, ko_rule=KoRule(red_flag_scope="all"), repeats={"A2": 2}
)
CHECKS: list[Check] = [
    Contains(type="contains", value="yes"),
    Levenshtein(type="levenshtein", value="yes", weight=2.0),
]


def runs_of(kind: str) -> list[MeasuredRun]:
    if kind == "judged":
        table = {"A1": Outcome((4, 5), flag=True), "A2": Repeats([(2, 3), Outcome((1, 1), status="empty")])}
        return three(JUDGED, table, table | {"A1": (3, 3)}, models=("m", "n"))
    if kind == "checks":
        suite = builders.checks_suite(("A1",), checks={"A1": CHECKS}, variants={"a": None, "b": "Hi\n"})
        return three(suite, {"A1": Outcome(checks={"contains": 1.0, "levenshtein": 0.79})}, {"A1": 1.0})
    return three(builders.labelled_suite({"A1": "relevant", "A2": "other"}),
                 {"A1": "relevant", "A2": "relevant"}, {"A1": "other", "A2": "other"})  # fmt: skip


@pytest.mark.parametrize("kind", ["judged", "checks", "labelled"])
def test_a_baseline_and_its_runs_are_the_same_side(kind: str) -> None:
    runs = runs_of(kind)
    baseline = parse(dump(kept(runs, 1)), "x")
    texts = {(kept.model, kept.variant, kept.prompt): kept.texts for kept in baseline.answers or ()}
    of_runs = side_of_runs([run.result for run in runs], [run.manifest for run in runs], texts, typical=1)
    assert side_of_baseline(baseline) == of_runs


def test_a_side_knows_where_it_comes_from() -> None:
    runs = runs_of("judged")
    side = side_of_baseline(kept(runs, 2))
    assert side.typical == 2
    assert side.run_ids == [run.result.run.id for run in runs]
    assert (side.tenant, side.target, side.day) == ("default", None, "2026-05-04")
    assert side.git.model_dump() == {"commit": "0" * 40, "clean": True}
    assert side.provenance.quant == {"m": None, "n": None}
    assert [[row.key for row in rows] for rows in side.draws] == [
        [row.key for row in runs[0].result.rows]
    ] * 3


def test_answers_are_the_typical_runs_one_per_repeat() -> None:
    runs = runs_of("judged")
    side = side_of_baseline(kept(runs, 1))
    assert side.answers is not None
    assert side.answers["m", "none", "A1"] == ["(3, 3) 1.0 False is the answer to A1"]
    assert side.answers["m", "none", "A2"] == ["(2, 3) 1.0 False is the answer to A2", ""]
    assert side_of_baseline(kept(runs, 1, with_answers=False)).answers is None


def test_rows_are_scored_under_the_sides_own_rules() -> None:
    def rules(suite: Suite, threshold: float) -> Suite:
        lines = {"Q1": Line(threshold=threshold, tolerance=1.0), "Q2": Line(threshold=None, tolerance=1.0)}
        return suite.model_copy(update={"rules": suite.rules.model_copy(update={"dimensions": lines})})

    table = {"A1": (4, 4), "A2": Repeats([(4, 4), (4, 4)])}
    loose, strict = (three(rules(JUDGED, threshold), table) for threshold in (3.0, 5.0))
    assert {row.state for row in side_of_baseline(kept(loose)).draws[0]} == {"pass"}
    assert {row.state for row in side_of_baseline(kept(strict)).draws[0]} == {"fail"}
    # Two runs of unlike rules are read under those of the typical one.
    both = side_of_runs([loose[0].result, strict[1].result], [loose[0].manifest, strict[1].manifest])
    assert {row.state for rows in both.draws for row in rows} == {"pass"}


def test_a_time_limit_is_not_kept() -> None:
    some: list[Check] = [Contains(type="contains", value="yes"), Latency(type="latency", e2e_max_s=0.1)]
    suite = builders.checks_suite(("A1",), checks={"A1": some})
    side = side_of_baseline(kept(three(suite, {"A1": Outcome(checks={"contains": 1.0, "latency": 0.0})})))
    assert [list(row.repeats[0].checks) for rows in side.draws for row in rows] == [["contains"]] * 3
    assert {row.state for rows in side.draws for row in rows} == {"pass"}


def test_a_run_that_was_not_judged_is_a_side_too() -> None:
    table = {"A1": Outcome(verdict=None), "A2": Repeats([Outcome(verdict=None)] * 2)}
    run = three(JUDGED, table)[0]
    side = side_of_runs([run.result], [run.manifest])
    assert [row.state for row in side.draws[0]] == [None, None]


def test_no_run_is_no_side() -> None:
    with pytest.raises(BadInputError, match="no run"):
        side_of_runs([], [])
