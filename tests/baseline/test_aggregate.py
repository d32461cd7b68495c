"""Many runs in one table per pack: what is one column, and what two judges made of the same answers."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.kit import builders
from tests.kit.builders import JUDGE, Outcome, Repeats, Table, judged_suite
from touchstone.baseline.aggregate import Agreement, PackTable, SystemRow, aggregate
from touchstone.pack.schema import KoRule
from touchstone.pack.suite import Suite
from touchstone.result.schema import ResultDoc

PROMPTS = ["A1", "A2", "A3"]
USUAL: dict[str, Any] = {"A1": (4, 4), "A2": (4, 4), "A3": (2, 2)}
M5 = {"chip": "Apple M5 Pro", "ram_gb": 64, "os": "macOS 26.1", "python": "3.13.1"}
M1 = {"chip": "Apple M1", "ram_gb": 16, "os": "macOS 26.1", "python": "3.13.1"}


def under(judge: str, suite: Suite) -> Suite:
    """The suite under another judge."""
    instrument = suite.instrument.model_copy(update={"judge": JUDGE.model_copy(update={"model": judge})})
    return suite.model_copy(update={"instrument": instrument})


def run(number: int, suite: Suite, table: Table, **fields: Any) -> ResultDoc:
    """A run with an id of its own."""
    return builders.result(suite, table, id=f"20260504T080000Z_pack_{number:06}", **fields)


def answered(table: dict[str, Any]) -> dict[str, Any]:
    """The table with answers that do not change with what is said of them."""
    return {prompt: saying(entry, prompt) for prompt, entry in table.items()}


def saying(entry: Any, prompt: str) -> Outcome:
    found = (
        entry if isinstance(entry, Outcome) else Outcome(entry or (), verdict="judged" if entry else "error")
    )
    return Outcome(found.scores, flag=found.flag, verdict=found.verdict, text=f"About {prompt}.")


def only(*results: ResultDoc) -> PackTable:
    (pack,) = aggregate(results).packs
    return pack


def pcts(row: SystemRow) -> list[float | None]:
    return [None if score is None else score.pct for score in row.scores]


def test_runs_of_one_instrument_stand_in_one_column_whatever_machine_they_ran_on() -> None:
    suite = judged_suite(PROMPTS)
    pack = only(run(1, suite, USUAL, host=M5), run(2, suite, USUAL, host=M1))
    assert [column.runs for column in pack.columns] == [
        ["20260504T080000Z_pack_000001", "20260504T080000Z_pack_000002"]
    ]
    assert [row.system.chip for row in pack.rows] == ["Apple M1", "Apple M5 Pro"]
    assert pack.agreements == []


def test_several_runs_of_one_system_are_a_mean_with_its_ends() -> None:
    suite = judged_suite(PROMPTS)
    better = USUAL | {"A3": (4, 4)}
    (row,) = only(run(1, suite, USUAL), run(2, suite, better)).rows
    (score,) = row.scores
    assert score is not None
    assert (score.runs, score.scored) == (2, 2)
    assert [score.low, score.high] == pytest.approx([66.666667, 80])
    assert score.pct == pytest.approx(73.333333)
    assert score.rubric_level == "solide"


def test_a_run_named_twice_counts_once() -> None:
    once = run(1, judged_suite(PROMPTS), USUAL)
    (row,) = only(once, once).rows
    assert row.scores[0] is not None
    assert row.scores[0].runs == 1


def test_another_judge_is_another_column_and_says_what_differs() -> None:
    suite = judged_suite(PROMPTS)
    pack = only(run(1, suite, USUAL), run(2, under("other", suite), USUAL))
    assert [column.judge and column.judge.model for column in pack.columns] == ["judge-7b", "other"]
    first, second = pack.columns
    assert first.differs == []
    assert [(moved.field, moved.old, moved.new) for moved in second.differs] == [
        ("judge.model", "judge-7b", "other")
    ]
    assert not second.case_sets_differ
    (row,) = pack.rows
    assert pcts(row) == [pytest.approx(66.666667)] * 2


def test_a_judge_of_another_build_is_another_judge() -> None:
    suite = judged_suite(PROMPTS)
    pack = only(run(1, suite, USUAL, version="b1"), run(2, suite, USUAL, version="b2"))
    assert [moved.field for moved in pack.columns[1].differs] == ["judge.version"]


def test_other_cases_are_another_column() -> None:
    pack = only(
        run(1, judged_suite(PROMPTS), USUAL), run(2, judged_suite([*PROMPTS, "A4"]), USUAL | {"A4": (5, 5)})
    )
    assert [column.cases for column in pack.columns] == [3, 4]
    assert [column.case_sets_differ for column in pack.columns] == [False, True]


def test_packs_are_apart() -> None:
    found = aggregate([run(1, judged_suite(PROMPTS, pack_id=id_), USUAL) for id_ in ("b", "a")])
    assert [pack.pack for pack in found.packs] == ["a", "b"]


def test_rows_stand_in_the_order_of_names_and_not_of_scores() -> None:
    suite = judged_suite(PROMPTS)
    table = {
        (model, "none", prompt): (score, score)
        for model, score in (("b", 5), ("a", 1), ("c", 3))
        for prompt in PROMPTS
    }
    pack = only(run(1, suite, table, models=["b", "a", "c"]))
    assert [row.system.model for row in pack.rows] == ["a", "b", "c"]


def test_two_texts_of_one_variant_are_two_systems() -> None:
    before, after = (judged_suite(PROMPTS, variants={"house": text}) for text in ("Be kind.", "Be brief."))
    assert len(only(run(1, before, USUAL), run(2, after, USUAL)).rows) == 2


def test_unknown_safety_is_not_passed_and_one_failure_is_enough() -> None:
    suite = judged_suite(PROMPTS, critical=["A1"])
    fine, unknown = run(1, suite, USUAL), run(2, suite, USUAL | {"A1": None})
    failed = run(3, suite, USUAL | {"A2": Outcome((4, 4), flag=True)})

    def safety(*results: ResultDoc) -> bool | None:
        (score,) = only(*results).rows[0].scores
        assert score is not None
        return score.safety_passed

    assert safety(fine) is True
    assert safety(fine, unknown) is None
    assert safety(fine, unknown, failed) is False


def test_what_was_not_judged_is_counted_and_never_a_zero() -> None:
    suite = judged_suite(PROMPTS)
    (row,) = only(run(1, suite, USUAL), run(2, suite, dict.fromkeys(PROMPTS))).rows
    (score,) = row.scores
    assert score is not None
    assert (score.runs, score.scored, score.low) == (2, 1, score.pct)
    assert (score.judged, score.planned, score.unjudged_rows) == (3, 6, 3)
    (bare,) = only(run(1, suite, dict.fromkeys(PROMPTS))).rows
    assert pcts(bare) == [None]


def test_a_run_that_nobody_judged_has_a_column_of_its_own() -> None:
    suite = judged_suite(PROMPTS)
    pack = only(run(1, suite, USUAL), run(2, suite, USUAL, judged=None))
    assert [column.judge is None for column in pack.columns] == [True, False]
    assert pack.columns[0].needs_judge
    assert pack.agreements == []


def agreement(one: dict[str, Any], other: dict[str, Any], **suite: Any) -> Agreement:
    """What a second judge made of the answers the first one scored."""
    asked = judged_suite(PROMPTS, **suite)
    pack = only(run(1, asked, answered(one)), run(2, under("other", asked), answered(other)))
    (found,) = pack.agreements
    return found


def test_judges_are_compared_on_the_same_answers() -> None:
    found = agreement(USUAL, USUAL | {"A1": (2, 4), "A2": (5, 4)})
    assert (found.first, found.second, found.rows) == (0, 1, 3)
    # Q1 weighs three quarters: −2 and +1 of 5 levels are −30 and +15 points, over three answers.
    assert found.mean_difference == pytest.approx(-5)


def test_other_answers_are_not_compared() -> None:
    suite = judged_suite(PROMPTS)
    pack = only(run(1, suite, USUAL, salt="a"), run(2, under("other", suite), USUAL, salt="b"))
    (found,) = pack.agreements
    assert (found.rows, found.mean_difference, found.ko_rows) == (0, None, 0)


def test_an_answer_one_judge_left_open_is_left_out() -> None:
    found = agreement(USUAL, USUAL | {"A3": None})
    assert found.rows == found.ko_rows == 2


def test_knock_outs_are_flags_and_floors() -> None:
    flagged = USUAL | {"A1": Outcome((4, 4), flag=True)}
    found = agreement(flagged, USUAL | {"A2": (1, 4)}, ko_rule=KoRule(dimension="Q1", threshold=2))
    assert (found.ko_rows, found.ko_both, found.ko_first_only, found.ko_second_only) == (3, 1, 1, 1)
    assert found.ko_agreed == 1


def test_a_flag_that_does_not_count_knocks_nothing_out() -> None:
    rule = KoRule(red_flag_scope="curated", red_flag_prompts=["A2"])
    found = agreement(USUAL | {"A1": Outcome((4, 4), flag=True)}, USUAL, ko_rule=rule)
    assert (found.ko_both, found.ko_first_only) == (0, 0)


def test_judges_of_other_dimensions_are_not_compared() -> None:
    suite = judged_suite(PROMPTS)
    other = under("other", judged_suite(PROMPTS, dimensions={"Q1": 1.0, "Q2": 1.0}))
    assert only(run(1, suite, USUAL), run(2, other, USUAL)).agreements == []


def test_the_same_answer_of_several_runs_is_compared_once() -> None:
    suite = judged_suite(PROMPTS)
    pack = only(
        run(1, suite, answered(USUAL)),
        run(2, suite, answered(USUAL)),
        run(3, under("other", suite), answered(USUAL)),
    )
    assert [found.rows for found in pack.agreements] == [3]


def test_lines_drawn_otherwise_are_told_and_stay_in_the_column() -> None:
    strict = judged_suite(PROMPTS, thresholds={"Q1": 5})
    pack = only(run(1, judged_suite(PROMPTS), USUAL), run(2, strict, USUAL))
    assert len(pack.columns) == 1
    assert pack.rules_differ


def test_repeats_are_one_answer_together() -> None:
    suite = judged_suite(["A1"], repeats=2)
    alike = Repeats([saying((4, 4), "A1"), saying((4, 4), "A1")])
    half = Repeats([saying((4, 4), "A1"), Outcome((4, 4), text="Else.")])
    pack = only(run(1, suite, {"A1": alike}), run(2, under("other", suite), {"A1": half}))
    assert [found.rows for found in pack.agreements] == [0]


def test_every_verdict_of_one_judge_counts_whatever_order_the_runs_stand_in() -> None:
    asked = judged_suite(["A1"])
    first = run(1, asked, answered({"A1": (3, 3)}))
    under_other = under("other", asked)
    kind = run(2, under_other, answered({"A1": (5, 5)}))
    harsh = run(3, under_other, answered({"A1": Outcome((2, 2), flag=True)}))
    (found,) = only(first, kind, harsh).agreements
    assert found.rows == 1
    assert found.mean_difference == pytest.approx(10)
    assert (found.ko_rows, found.ko_second_only) == (1, 1)
    orders = itertools.permutations([first, kind, harsh])
    assert len({aggregate(order).model_dump_json() for order in orders}) == 1


def test_the_lines_that_count_are_those_of_the_first_run_and_not_of_the_first_argument() -> None:
    loose = judged_suite(["A1"], ko_rule=KoRule(dimension="Q1", threshold=1))
    strict = judged_suite(["A1"], ko_rule=KoRule(dimension="Q1", threshold=3))
    runs = [
        run(1, loose, answered({"A1": (3, 3)})),
        run(2, strict, answered({"A1": (3, 3)})),
        run(3, under("other", loose), answered({"A1": (2, 2)})),
    ]
    assert len({aggregate(order).model_dump_json() for order in itertools.permutations(runs)}) == 1


def test_of_two_states_of_one_run_the_one_judged_further_counts() -> None:
    suite = judged_suite(PROMPTS)
    part, whole = run(1, suite, USUAL | {"A3": None}), run(1, suite, USUAL)
    for order in ([part, whole], [whole, part]):
        assert pcts(only(*order).rows[0]) == [pytest.approx(66.666667)]


def test_a_judge_is_another_one_only_beside_a_judge_that_spoke() -> None:
    suite = judged_suite(PROMPTS)
    pack = only(run(1, suite, USUAL, judged=None), run(2, under("other", suite), USUAL))
    assert [column.judge is None for column in pack.columns] == [True, False]
    assert pack.columns[1].differs == []


def test_a_judge_is_not_compared_with_itself() -> None:
    more = [*PROMPTS, "A4"]
    one = run(1, judged_suite(PROMPTS), answered(USUAL))
    other = run(2, judged_suite(more), answered(USUAL | {"A4": (5, 5)}))
    pack = only(one, other)
    assert len(pack.columns) == 2
    assert pack.agreements == []
