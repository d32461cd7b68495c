"""Scores of rows and cells."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.builders import Outcome, Repeats, checks_suite, judged_suite, labelled_suite, result
from touchstone.pack.checks import Check, Contains, Latency, Levenshtein
from touchstone.pack.suite import Line, Suite
from touchstone.result.schema import Cell, ModelReport, ResultDoc, Row
from touchstone.result.scorecard import cell_quality, row_pct, rubric_level, score_rows


def quality_of(document: ResultDoc) -> ModelReport:
    quality = document.cells[0].quality
    assert quality is not None
    return quality


def states(document: ResultDoc) -> dict[str, str | None]:
    return {row.prompt: row.state for row in document.rows}


def points(of_80: int) -> ResultDoc:
    """Sixteen prompts with one dimension on a 1–5 scale: 80 points to get."""
    prompts = [f"P{number}" for number in range(1, 17)]
    base, more = divmod(of_80, 16)
    table = {prompt: [base + (index < more)] for index, prompt in enumerate(prompts)}
    return result(judged_suite(prompts, dimensions={"Q1": 1}), table)


def test_71_of_80_points_are_88_75_and_hoch() -> None:
    quality = quality_of(points(71))
    assert (quality.pct, quality.rubric_level) == (88.75, "hoch")


def test_61_of_80_points_are_76_25_and_solide() -> None:
    quality = quality_of(points(61))
    assert (quality.pct, quality.rubric_level) == (76.25, "solide")


@pytest.mark.parametrize(
    ("pct", "level"),
    [
        (100.0, "hoch"),
        (85.0, "hoch"),
        (84.999999, "solide"),
        (84.96, "solide"),
        (70.0, "solide"),
        (69.999999, "teilweise"),
        (50.0, "teilweise"),
        (49.999999, "ungenügend"),
        (0.0, "ungenügend"),
    ],
)
def test_bands_include_their_lower_bound(pct: float, level: str) -> None:
    assert rubric_level(pct) == level


def test_a_cell_of_exactly_85_is_hoch_though_its_rows_are_thirds() -> None:
    suite = judged_suite(["A", "B", "C", "D"], dimensions={"Q1": 1, "Q2": 1, "Q3": 1})
    table = {"A": [5, 4, 4], "B": [5, 4, 4], "C": [4, 4, 4], "D": [5, 4, 4]}
    document = result(suite, table)
    assert document.rows[0].pct == 86.666667
    assert (quality_of(document).pct, quality_of(document).rubric_level) == (85.0, "hoch")


def test_weights_count_in_a_judged_row() -> None:
    suite = judged_suite(["A"], dimensions={"Q1": 5, "Q2": 1})
    assert result(suite, {"A": [3, 5]}).rows[0].pct == pytest.approx(100 * 20 / 30, abs=1e-6)


def test_only_the_dimensions_asked_of_a_prompt_count() -> None:
    suite = judged_suite(["A", "B"], dimensions={"Q1": 3, "Q2": 1}, asked={"B": ["Q2"]})
    document = result(suite, {"A": [4, 4], "B": [5]})
    assert [row.pct for row in document.rows] == [80.0, 100.0]
    assert quality_of(document).dim_means == {"Q1": 4.0, "Q2": 4.5}
    assert quality_of(document).dim_scores == {"Q1": 4, "Q2": 5}


def test_a_row_is_the_mean_of_its_repeats() -> None:
    suite = judged_suite(["A"], dimensions={"Q1": 1}, repeats=3)
    document = result(suite, {"A": Repeats([[5], [4], [4]])})
    assert document.rows[0].pct == pytest.approx(86.666667)
    assert quality_of(document).dim_means["Q1"] == pytest.approx(4.333333)


def test_each_case_counts_the_same_however_often_it_is_asked() -> None:
    suite = judged_suite(["A", "B"], dimensions={"Q1": 1}, repeats={"A": 3})
    quality = quality_of(result(suite, {"A": Repeats([[2], [2], [2]]), "B": [4]}))
    assert (quality.pct, quality.dim_means) == (60.0, {"Q1": 3.0})


def test_dim_scores_are_rounded_half_up() -> None:
    suite = judged_suite(["A", "B"], dimensions={"Q1": 1, "Q2": 1, "Q3": 1})
    quality = quality_of(result(suite, {"A": [2, 3, 1], "B": [3, 4, 2]}))
    assert quality.dim_scores == {"Q1": 3, "Q2": 4, "Q3": 2}


def test_a_checks_only_row_is_the_weighted_share_of_its_checks() -> None:
    checks = [Contains(type="contains", value="a", weight=3), Contains(type="contains", value="b")]
    document = result(
        checks_suite(["A"], checks={"A": checks}), {"A": Outcome(checks={"contains": 1.0, "contains-2": 0.0})}
    )
    assert document.rows[0].pct == 75.0
    assert document.rows[0].state == "fail"
    assert quality_of(document).rubric_level is None
    assert (quality_of(document).checks.passed, quality_of(document).checks.of) == (1, 2)


def test_a_check_that_is_listed_only_moves_nothing() -> None:
    checks: list[Check] = [Contains(type="contains", value="a"), Latency(type="latency", e2e_max_s=1)]
    suite = checks_suite(["A"], checks={"A": checks})
    for listed in (0.0, 1.0, None):
        document = result(suite, {"A": Outcome(checks={"contains": 1.0, "latency": listed})})
        assert (document.rows[0].pct, document.rows[0].state) == (100.0, "pass")
        assert quality_of(document).checks.of == 1


def test_the_class_counts_as_one_check_beside_the_others() -> None:
    checks = {"A": [Contains(type="contains", value="because", weight=3)]}
    suite = labelled_suite({"A": "other"}, checks=checks)
    document = result(suite, {"A": Outcome(label="relevant", checks=1.0)})
    assert (document.rows[0].pct, document.rows[0].state) == (75.0, "fail")
    assert document.rows[0].repeats[0].checks["label"].status == "fail"
    assert document.rows[0].below_line


def test_an_answer_without_a_class_is_an_error() -> None:
    document = result(labelled_suite({"A": "other", "B": "other"}), {"A": None, "B": "other"})
    assert states(document) == {"A": "error", "B": "pass"}
    assert document.rows[0].pct is None
    assert quality_of(document).pct == 100.0


def test_in_a_mixed_pack_pct_covers_the_judged_rows_and_checks_stand_beside_it() -> None:
    checks = {"B": [Contains(type="contains", value="x")]}
    suite = judged_suite(["A", "B"], dimensions={"Q1": 1}, asked={"B": []}, checks=checks)
    document = result(suite, {"A": [4], "B": Outcome(checks=0.0)})
    assert [row.pct for row in document.rows] == [80.0, 0.0]
    assert quality_of(document).pct == 80.0
    assert quality_of(document).checks.model_dump() == {"passed": 0, "of": 1}


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (Outcome(status="error"), "generation_failed"),
        (Outcome(status="reasoning_only"), "reasoning_only"),
        (Outcome(verdict="error", reason="score_out_of_range"), "score_out_of_range"),
    ],
)
def test_one_repeat_without_a_score_makes_the_row_an_error(second: Outcome, reason: str) -> None:
    document = result(judged_suite(["A"], repeats=2), {"A": Repeats([[5, 5], second])})
    [row] = document.rows
    assert (row.state, row.pct, row.below_line) == ("error", None, None)
    assert row.repeats[1].reason == reason
    assert quality_of(document).pct is None


def test_a_check_that_could_not_run_makes_the_row_an_error() -> None:
    checks = [Contains(type="contains", value="a"), Contains(type="contains", value="b")]
    suite = checks_suite(["A"], checks={"A": checks})
    document = result(suite, {"A": Outcome(checks={"contains": None, "contains-2": 1.0})})
    assert states(document) == {"A": "error"}
    assert document.rows[0].pct is None


def test_scores_beside_a_check_that_could_not_run_enter_nothing() -> None:
    broken = Outcome([1, 1], verdict="error", reason="check_error")
    document = result(judged_suite(["A", "B"]), {"A": [5, 5], "B": broken})
    assert states(document) == {"A": "pass", "B": "error"}
    assert quality_of(document).pct == 100.0
    assert quality_of(document).dim_means == {"Q1": 5.0, "Q2": 5.0}


def test_a_missing_score_is_never_guessed() -> None:
    document = result(judged_suite(["A"]), {"A": Outcome({"Q1": 5})})
    assert (document.rows[0].state, document.rows[0].pct) == ("error", None)


def test_an_open_row_has_no_state() -> None:
    document = result(judged_suite(["A", "B"]), {"A": [5, 5], "B": Outcome(verdict=None)})
    assert states(document) == {"A": "pass", "B": None}
    assert not document.run.complete


def test_a_row_whose_mean_is_under_the_line_fails() -> None:
    suite = judged_suite(["A", "B"], dimensions={"Q1": 1}, thresholds={"Q1": 3}, repeats=2)
    document = result(suite, {"A": Repeats([[3], [2]]), "B": Repeats([[4], [2]])})
    assert states(document) == {"A": "fail", "B": "pass"}
    assert [row.below_line for row in document.rows] == [True, False]
    assert document.cells[0].counts.below_line == 1


def test_a_dimension_that_nobody_scored_leaves_the_cell_not_assessed() -> None:
    suite = judged_suite(["A", "B"], dimensions={"Q1": 1, "Q2": 1}, asked={"A": ["Q1"], "B": ["Q2"]})
    quality = quality_of(result(suite, {"A": [5], "B": None}))
    assert (quality.pct, quality.rubric_level) == (None, None)
    assert quality.dim_means == {"Q1": 5.0}


def test_counts_of_a_cell() -> None:
    table = {
        "A": [5, 5],
        "B": [1, 1],
        "C": Outcome([5, 5], status="truncated"),
        "D": Outcome([1, 1], status="empty"),
        "E": Outcome(status="reasoning_only"),
        "F": Outcome(status="error"),
        "G": None,
        "H": Outcome(status=None),
    }
    document = result(judged_suite(list(table), thresholds={"Q1": 3}), table)
    assert document.cells[0].counts.model_dump() == {
        "planned": 8,
        "answered": 6,
        "judged": 4,
        "rows": 8,
        "passed": 2,
        "failed": 2,
        "error": 3,
        "unscored": 2,
        "empty": 1,
        "reasoning_only": 1,
        "truncated": 1,
        "below_line": 2,
    }


def with_check_line(suite: Suite, key: str, threshold: float) -> Suite:
    lines = suite.rules.checks | {key: Line(threshold=threshold, tolerance=0.0)}
    return suite.model_copy(update={"rules": suite.rules.model_copy(update={"checks": lines})})


def test_the_same_rows_are_read_under_other_rules() -> None:
    suite = checks_suite(["A"], checks={"A": [Levenshtein(type="levenshtein", value="x")]})
    rows = result(suite, {"A": Outcome(checks=0.85)}).rows
    assert (rows[0].state, rows[0].pct) == ("pass", 85.0)
    [stricter] = score_rows(rows, with_check_line(suite, "A/levenshtein", 0.9))
    assert (stricter.state, stricter.pct, stricter.below_line) == ("fail", 85.0, True)
    assert stricter.repeats[0].checks["levenshtein"].status == "fail"
    assert score_rows([stricter], suite) == rows


def test_a_raised_line_flips_a_judged_row_and_not_its_pct() -> None:
    low = judged_suite(["A"], thresholds={"Q1": 3})
    high = judged_suite(["A"], thresholds={"Q1": 4})
    rows = result(low, {"A": [3, 5]}).rows
    assert [(row.state, row.pct) for row in rows] == [("pass", 70.0)]
    assert [(row.state, row.pct) for row in score_rows(rows, high)] == [("fail", 70.0)]


def test_a_row_the_suite_does_not_know_stays_as_it_is() -> None:
    rows = result(judged_suite(["A", "B"]), {"A": [3, 5], "B": [4, 4]}).rows
    assert score_rows(rows, judged_suite(["A"])) == rows


def test_two_cells_are_two_reports_in_plan_order() -> None:
    suite = judged_suite(["A"], variants={"plain": None, "house": "Be kind."})
    table = {("m1", "plain", "A"): [1, 1], ("m1", "house", "A"): [5, 5], "A": [3, 3]}
    document = result(suite, table, models=["m2", "m1"])
    assert [(cell.model, cell.variant, pct_of(cell)) for cell in document.cells] == [
        ("m2", "plain", 60.0),
        ("m2", "house", 60.0),
        ("m1", "plain", 20.0),
        ("m1", "house", 100.0),
    ]


def pct_of(cell: Cell) -> float | None:
    return cell.quality.pct if cell.quality else None


SCORE = st.integers(min_value=1, max_value=5)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(SCORE, SCORE), min_size=1, max_size=6),
    st.tuples(st.sampled_from([0.1, 0.3, 1.0, 2.5]), st.sampled_from([0.1, 0.7, 1.0, 3.0])),
)
def test_pct_is_the_seeds_formula_where_everything_is_asked_everywhere(
    scores: list[tuple[int, int]], weights: tuple[float, float]
) -> None:
    prompts = [f"P{number}" for number in range(len(scores))]
    suite = judged_suite(prompts, dimensions=dict(zip(("Q1", "Q2"), weights, strict=True)))
    document = result(suite, dict(zip(prompts, map(list, scores), strict=True)))
    got = math.fsum(weight * score for pair in scores for weight, score in zip(weights, pair, strict=True))
    assert quality_of(document).pct == pytest.approx(100 * got / (5 * sum(weights) * len(scores)), abs=2e-6)
    rows = score_rows(document.rows, suite)
    assert rows == document.rows
    assert cell_quality(rows, suite) == quality_of(document)
    assert all(row_pct(row, suite) == row.pct for row in rows)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.none(), st.tuples(SCORE, SCORE)), min_size=1, max_size=6))
def test_an_error_never_becomes_a_number(scores: list[tuple[int, int] | None]) -> None:
    prompts = [f"P{number}" for number in range(len(scores))]
    table = {prompt: score and list(score) for prompt, score in zip(prompts, scores, strict=True)}
    document = result(judged_suite(prompts), table)
    known = [score for score in scores if score]
    rows: list[Row] = document.rows
    assert [row.pct is None for row in rows] == [score is None for score in scores]
    assert document.cells[0].counts.error == len(scores) - len(known)
    pct = quality_of(document).pct
    assert (pct is None) == (not known)
    if pct is not None:
        assert pct == pytest.approx(100 * sum(3 * a + b for a, b in known) / (20 * len(known)), abs=2e-6)
