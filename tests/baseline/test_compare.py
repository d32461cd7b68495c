"""The verdict on two sides: data with known truth, every state and every exit code of the rule."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.kit import builders
from tests.kit.builders import Outcome, Repeats
from tests.kit.compared import baseline, compared, confirmed, first_of, repeating, row, varying
from tests.kit.golden import golden
from touchstone.baseline.compare import confirm_plan, control_plan, suspicions_of
from touchstone.baseline.evidence import Evidence
from touchstone.baseline.sides import Side
from touchstone.config import CompareSettings
from touchstone.errors import ExitCode
from touchstone.files import json_pretty
from touchstone.pack.checks import Check, Contains
from touchstone.pack.schema import KoRule
from touchstone.pack.suite import Suite
from touchstone.render.comparison import comparison_text
from touchstone.render.note_lines import open_lines
from touchstone.render.words import Words
from touchstone.result.schema import Row

CASES = Path(__file__).parents[1] / "cases" / "public" / "verdict"


def prompts(count: int) -> list[str]:
    return [f"P{number:02}" for number in range(count)]


def table(count: int, entry: Any = (4, 4), **others: Any) -> dict[str, Any]:
    """The same entry for every prompt, single ones replaced."""
    return dict.fromkeys(prompts(count), entry) | others


def judged(count: int = 20, **options: Any) -> Suite:
    return builders.judged_suite(prompts(count), **options)


# The study's data sets: scores 1–5, six dimensions, recomputed in points of the product.


class DataSet:
    """A data set as sides: three baseline runs, the candidate's six, three controls."""

    def __init__(self, name: str) -> None:
        data = json.loads((CASES / f"{name}.json").read_text("utf-8"))
        self.suite = builders.judged_suite(
            [case["case"] for case in data["candidate_run"]], dimensions=data["weights"]
        )
        self.flags = data["flag_rejudge_same_answer"]
        self.changed = set(data["truth"]["case_changed"])
        self.noise = data["expected_with_reference_rule"]["case_noise_sd"]
        self.old = self._side(data["baseline_runs"], "baseline")
        self.new = self._side([data["candidate_run"], *data["confirm_runs"]], "candidate")
        self.control = self._side(data["control_rejudge_of_baseline_answers"], "baseline").draws[0]

    def _side(self, runs: list[Any], salt: str) -> Side:
        tables = [
            {case["case"]: Outcome(case["scores"], flag=case["red_flag"]) for case in run} for run in runs
        ]
        return varying(self.suite, *tables, salt=salt)


def test_an_unchanged_system_is_not_worse() -> None:
    data = DataSet("aa_medium_n40")
    files = compared(data.old, first_of(data.new))
    assert (files.status, files.exit) == ("suspect", ExitCode.NOTHING_WORSE)
    after, _, _ = confirmed(data.old, data.new, data.flags)
    # A flag that four more judgements do not repeat is told, never silent and never red.
    assert (after.status, after.exit, after.reason) == ("suspect", ExitCode.NOTHING_WORSE, "red_flag")
    assert after.counts.worse == 0
    assert [(item.rule, item.prompt, item.detail) for item in after.suspicions] == [
        ("flag", "case-008", "1/5")
    ]
    assert "red_flag_unconfirmed" in after.notes


def test_five_points_lower_everywhere_is_worse_by_the_suite() -> None:
    data = DataSet("ab_uniform5_medium_n60")
    files = compared(data.old, first_of(data.new))
    assert (files.status, files.exit, files.reason) == ("worse", ExitCode.WORSE, "suite")
    assert files.cells[0].state == "worse"
    # Obvious at first sight: nothing is measured again, not even for single rows.
    assert confirm_plan(data.old, first_of(data.new)) == []
    after, _, _ = confirmed(data.old, data.new, data.flags)
    assert (after.status, after.counts.worse) == ("worse", 0)


def test_few_cases_and_a_flag_are_worse_by_suite_case_and_flag() -> None:
    data = DataSet("ab_few_cases_and_flag_low_n40")
    files = compared(data.old, first_of(data.new))
    assert files.status == "worse"
    # Files alone convict the suite; the single rows and the flag wait for a second measurement.
    assert {item.rule for item in files.suspicions} == {"suite", "case", "flag"}
    assert files.counts.worse == 0
    after, _, _ = confirmed(data.old, data.new, data.flags)
    assert (after.status, after.exit, after.cells[0].state) == ("worse", ExitCode.WORSE, "worse")
    worse = {found.prompt: found for found in after.rows if found.state == "worse"}
    assert set(worse) == data.changed
    assert worse["case-007"].reason == "red_flag"
    assert {found.reason for found in worse.values()} == {"red_flag", "case_fell"}
    assert all(found.confirmed for found in worse.values())


def test_a_stricter_judge_is_a_moved_ruler_not_a_worse_system() -> None:
    data = DataSet("ab_judge_stricter_low_n60")
    after, new, evidence = confirmed(data.old, data.new, data.flags)
    assert after.status == "worse"
    assert "judge_not_ruled_out" in after.notes
    assert len(control_plan(data.old, new, evidence=evidence)) == 60
    told = compared(data.old, new, replace(evidence, control=data.control))
    assert (told.status, told.exit, told.reason) == ("not_comparable", ExitCode.NOT_COMPARABLE, "judge_moved")
    assert told.cells[0].state == "rule_changed"
    assert "judge_moved" in told.notes
    assert "judge_not_ruled_out" not in told.notes


@pytest.mark.parametrize("name", ["ab_uniform5_medium_n60", "ab_few_cases_and_flag_low_n40"])
def test_a_real_drop_stays_worse_when_the_judge_is_the_same(name: str) -> None:
    data = DataSet(name)
    _, new, evidence = confirmed(data.old, data.new, data.flags)
    told = compared(data.old, new, replace(evidence, control=data.control))
    assert told.status == "worse"
    assert "judge_not_ruled_out" not in told.notes


@pytest.mark.parametrize("name", ["aa_medium_n40", "ab_uniform5_medium_n60", "ab_judge_stricter_low_n60"])
def test_noise_and_detectable_drop_are_printed_in_points_of_the_product(name: str) -> None:
    data = DataSet(name)
    honesty = compared(data.old, first_of(data.new)).honesty
    assert honesty is not None
    # The data set counts (score − 1)/4, we count score/5: four fifths of it.
    assert honesty.noise_per_case == pytest.approx(0.8 * data.noise, abs=0.1)
    assert honesty.suite_drop is not None
    assert 2.5 < honesty.suite_drop < 4.5
    assert (honesty.baseline_runs, honesty.trials, honesty.trials_worse) == (3, 3, 0)


# An engine that repeats itself


def test_three_identical_runs_and_an_identical_fourth_are_unchanged() -> None:
    suite = judged(50)
    found = compared(baseline(suite, table(50)), repeating(suite, table(50)))
    assert (found.status, found.exit, found.reason) == ("unchanged", ExitCode.NOTHING_WORSE, "same_answers")
    cell = found.cells[0]
    assert (cell.state, cell.identical, cell.shared, cell.deterministic) == ("unchanged", 50, 50, True)
    assert found.counts.unchanged == 50
    assert "engine_repeats_itself" in found.notes
    assert found.honesty is not None
    assert (found.honesty.noise_per_case, found.honesty.suite_drop) == (0, None)


def test_one_changed_answer_of_fifty_is_listed_and_not_red() -> None:
    suite = judged(50)
    new = repeating(suite, table(50, P07=(2, 2)))
    found = compared(baseline(suite, table(50)), new)
    assert (found.status, found.exit) == ("unchanged", ExitCode.NOTHING_WORSE)
    listed = row(found, "P07")
    assert (listed.state, listed.reason, listed.same_answer) == ("suspect", "lower_one_draw", False)
    assert listed.moved_by == ["Q1 4 → 2", "Q2 4 → 2"]
    assert found.cells[0].identical == 49
    assert confirm_plan(baseline(suite, table(50)), new) == []
    assert "lower_one_draw" in found.notes


def test_strict_rows_make_that_row_red() -> None:
    suite = judged(50, compare=CompareSettings(strict_rows=True))
    found = compared(baseline(suite, table(50)), repeating(suite, table(50, P07=(2, 2))))
    assert (found.status, found.reason, row(found, "P07").state) == ("worse", "case_fell", "worse")


def test_a_flipped_check_is_a_fact_and_red() -> None:
    suite = builders.checks_suite(prompts(50))
    old, new = baseline(suite, table(50, 1.0)), repeating(suite, table(50, 1.0, P03=0.0))
    found = compared(old, new)
    assert (found.status, found.exit, found.reason) == ("worse", ExitCode.WORSE, "check_flip")
    flipped = row(found, "P03")
    assert (flipped.state, flipped.reason, flipped.moved_by) == (
        "worse",
        "check_flip",
        ["contains pass → fail"],
    )
    # The check asks the one row again, and copies of the answer confirm what they repeat.
    assert [(need.prompt, need.times) for need in confirm_plan(old, new)] == [("P03", 5)]
    again = repeating(suite, *[table(50, 1.0, P03=0.0)] * 6)
    sure, _, _ = confirmed(old, again)
    assert (sure.status, row(sure, "P03").confirmed, row(sure, "P03").draws) == ("worse", True, 6)


def test_a_check_that_passes_when_asked_again_was_no_fact() -> None:
    suite = builders.checks_suite(prompts(50))
    draws = [table(50, 1.0, P03=0.0), *[table(50, 1.0, P03=0.0)] * 4, table(50, 1.0)]
    found, _, _ = confirmed(baseline(suite, table(50, 1.0)), repeating(suite, *draws))
    assert (found.exit, row(found, "P03").state) == (ExitCode.NOTHING_WORSE, "within_noise")
    assert row(found, "P03").draws == 6
    assert found.suspicions == []


def test_a_check_that_passes_when_asked_again_is_not_red_for_being_suspect() -> None:
    suite = builders.checks_suite(prompts(50), compare=CompareSettings(fail_on="suspect"))
    draws = [table(50, 1.0, P03=0.0), *[table(50, 1.0)] * 5]
    found, _, _ = confirmed(baseline(suite, table(50, 1.0)), repeating(suite, *draws))
    assert (found.exit, found.counts.suspect) == (ExitCode.NOTHING_WORSE, 0)
    assert "P03 · none: 100.0 % → 0.0 %  within noise in 6 draws" in comparison_text(found)


def test_one_flipped_label_of_twenty_one_is_listed_and_not_red() -> None:
    suite = builders.labelled_suite(dict.fromkeys(prompts(21), "relevant"))
    old = baseline(suite, table(21, "relevant"))
    found = compared(old, repeating(suite, table(21, "relevant", P04="other")))
    assert (found.status, found.exit) == ("within_noise", ExitCode.NOTHING_WORSE)
    assert row(found, "P04").moved_by == ["label relevant → other"]
    assert (found.cells[0].old_labels, found.cells[0].new_labels) == ("21/21", "20/21")
    assert confirm_plan(old, repeating(suite, table(21, "relevant", P04="other"))) == []


def test_many_flipped_labels_convict_through_the_cell() -> None:
    suite = builders.labelled_suite(dict.fromkeys(prompts(21), "relevant"))
    wrong = dict.fromkeys(prompts(21)[:12], "other")
    found = compared(baseline(suite, table(21, "relevant")), repeating(suite, table(21, "relevant") | wrong))
    assert (found.status, found.reason) == ("worse", "suite")


def test_a_deterministic_cell_is_held_to_how_differently_its_rows_moved() -> None:
    suite = judged(20)
    old = baseline(suite, table(20))
    lower = table(20, (4, 3))  # every row 5 points lower, alike
    assert compared(old, repeating(suite, lower)).status == "worse"
    # The same mean from two rows that lost much is no suite-wide fall.
    two = compared(old, repeating(suite, table(20, P00=(2, 1), P01=(2, 1))))
    assert two.cells[0].difference == pytest.approx(-4.5)
    assert two.status == "within_noise"
    assert confirm_plan(old, repeating(suite, lower)) == []


def test_zero_variance_never_reads_within_noise() -> None:
    suite = judged(20)
    old = baseline(suite, table(20))
    for entry in ((4, 4), (5, 5), (3, 3), (4, 3), (4, 5)):
        for changed in ({}, {"P00": (1, 1)}, {"P00": (5, 5)}):
            found = compared(old, repeating(suite, table(20, entry, **changed)))
            if not changed:
                assert found.cells[0].state != "within_noise"
                assert found.status != "within_noise"
            if entry == (4, 4):
                assert all(item.state != "within_noise" for item in found.rows)


def test_a_uniform_fall_below_the_least_drop_is_suspect_never_within_noise() -> None:
    suite = judged(20, compare=CompareSettings(min_drop=10))
    found = compared(baseline(suite, table(20)), repeating(suite, table(20, (4, 3))))
    assert (found.status, found.exit, found.cells[0].state) == ("suspect", 0, "suspect")
    up = compared(baseline(suite, table(20)), repeating(suite, table(20, (4, 5))))
    assert (up.status, up.cells[0].state) == ("better", "better")


# An engine that varies


def wobbling(count: int, run: int = 0, **others: Any) -> dict[str, Any]:
    """A run in which every third row is a little higher, another third in each run: the mean stays."""
    entries = {p: (4, 5) if number % 3 == run % 3 else (4, 4) for number, p in enumerate(prompts(count))}
    return entries | others


def steady(count: int) -> list[dict[str, Any]]:
    """Three baseline runs that differ by such a wobble."""
    return [wobbling(count, run) for run in range(3)]


def fallen(*runs: int) -> Side:
    """Draws of a candidate whose P05 is low; in the runs given it is not."""
    draws = [wobbling(60, run, **({} if run in runs else {"P05": (2, 3)})) for run in range(6)]
    return varying(judged(60), *draws, salt="new")


@pytest.fixture
def wobbly() -> Side:
    return varying(judged(60), *steady(60))


def test_a_fallen_row_is_suspect_until_five_fresh_draws_agree(wobbly: Side) -> None:
    new = fallen()
    first = compared(wobbly, first_of(new))
    assert (first.status, first.reason, row(first, "P05").state) == ("suspect", "case_fell", "suspect")
    assert [(need.kind, need.prompt, need.times) for need in confirm_plan(wobbly, first_of(new))] == [
        ("ask", "P05", 5)
    ]
    found, measured, _ = confirmed(wobbly, new)
    low = row(found, "P05")
    assert (found.status, found.exit, found.reason) == ("worse", ExitCode.WORSE, "case_fell")
    assert (low.state, low.confirmed, low.draws) == ("worse", True, 6)
    assert confirm_plan(wobbly, measured) == []


def test_one_fresh_draw_that_is_not_lower_clears_the_row(wobbly: Side) -> None:
    found, _, _ = confirmed(wobbly, fallen(5))
    assert (found.exit, row(found, "P05").state, found.suspicions) == (0, "within_noise", [])


def test_copies_of_one_low_answer_do_not_confirm_a_row(wobbly: Side) -> None:
    draws = [wobbling(60, 1, P05=(2, 3))] * 6
    found, _, _ = confirmed(wobbly, repeating(judged(60), *draws, salt="same"))
    assert (found.status, found.exit, row(found, "P05").state) == ("suspect", 0, "suspect")


def test_the_plan_resumes_where_it_stopped(wobbly: Side) -> None:
    draws = fallen().draws
    alone = [tuple(row for row in draw if row.prompt == "P05") for draw in draws[1:3]]
    partial = replace(fallen(), draws=(draws[0], *alone))
    assert [(need.prompt, need.times) for need in confirm_plan(wobbly, partial)] == [("P05", 3)]


@pytest.mark.parametrize(("score", "more"), [(3, 11), (2, 0)])
def test_a_fall_of_one_level_in_one_dimension_takes_as_many_draws_as_a_check(score: int, more: int) -> None:
    suite = judged(60, dimensions={"Q1": 1.0})
    old = varying(suite, *[table(60, (4,))] * 3)
    new = varying(suite, *[table(60, (4,), P05=(score,))] * 18, salt="new")
    rows = [[row for row in draw if row.prompt == "P05"] for draw in new.draws]

    def drawn(fresh: int) -> Side:
        return replace(new, draws=(new.draws[0], *(tuple(found) for found in rows[1 : fresh + 1])))

    assert [(need.prompt, need.times) for need in confirm_plan(old, drawn(0))] == [("P05", 5)]
    assert [need.times for need in confirm_plan(old, drawn(5))] == ([more] if more else [])
    assert row(compared(old, drawn(5)), "P05").state == ("suspect" if more else "worse")
    assert confirm_plan(old, drawn(5 + more)) == []
    assert row(compared(old, drawn(5 + more)), "P05").state == "worse"


def test_a_row_that_obviously_fell_with_its_cell_is_not_asked_again(wobbly: Side) -> None:
    lower = dict.fromkeys(prompts(60), (3, 4)) | {"P05": (2, 3)}
    found = compared(wobbly, varying(judged(60), lower, salt="new"))
    assert (found.status, found.reason, row(found, "P05").state) == ("worse", "suite", "suspect")
    assert confirm_plan(wobbly, varying(judged(60), lower, salt="new")) == []


def going_round(run: int, lower: int = 0) -> dict[str, tuple[int]]:
    """Noise enough to doubt a small fall: each row takes three neighbouring scores in turn; so many of the
    rows are one level lower.
    """
    entries = {p: 2 + (number + run) % 3 for number, p in enumerate(prompts(40))}
    return {p: (max(1, score - (number < lower)),) for number, (p, score) in enumerate(entries.items())}


@pytest.mark.parametrize(("fresh", "state"), [(20, "worse"), (0, "within_noise")])
def test_a_suspect_suite_is_asked_twice_more_and_settled_by_all_draws(fresh: int, state: str) -> None:
    suite = judged(40, dimensions={"Q1": 1.0})
    old = varying(suite, *[going_round(run) for run in range(3)])
    new = varying(suite, going_round(3, 12), going_round(4, fresh), going_round(5, fresh), salt="new")
    first = compared(old, first_of(new))
    assert (first.status, first.reason, first.cells[0].state) == ("suspect", "suite", "suspect")
    plan = confirm_plan(old, first_of(new))
    assert len(plan) == 40
    assert {(need.kind, need.times) for need in plan} == {("ask", 2)}
    settled, _, _ = confirmed(old, new)
    assert settled.suspicions == []
    assert settled.cells[0].state == state
    assert settled.exit == (state == "worse")


def test_one_draw_convicts_on_files_and_not_where_the_second_look_was_given_up() -> None:
    suite = judged(40, dimensions={"Q1": 1.0})
    old = varying(suite, *[going_round(run) for run in range(3)])
    draws = [going_round(3, 23), going_round(4, 23), going_round(5, 23)]
    new = varying(suite, *draws, salt="new")
    alone = first_of(new)
    assert {(need.kind, need.times) for need in confirm_plan(old, alone)} == {("ask", 2)}
    on_files = compared(old, alone)
    assert (on_files.status, on_files.exit, on_files.reason) == ("worse", ExitCode.WORSE, "suite")
    given_up = compared(old, alone, Evidence(given_up=True))
    assert (given_up.status, given_up.exit, given_up.reason) == ("suspect", 0, "suite")
    assert given_up.cells[0].state == "suspect"
    # What was measured before it was given up counts, and the judge's second reading is due like the draws.
    unread = compared(old, new, Evidence(given_up=True))
    assert (unread.status, unread.exit, "judge_not_ruled_out" in unread.notes) == ("suspect", 0, False)
    read = Evidence(given_up=True, control=old.draws[old.typical])
    assert compared(old, new, read).status == "worse"
    unstored = compared(replace(old, answers=None), new, Evidence(given_up=True))
    assert (unstored.status, "judge_not_ruled_out" in unstored.notes) == ("worse", True)


@pytest.mark.parametrize(("cells", "asked"), [(1, 0), (4, 40)])
def test_what_is_obvious_in_one_cell_may_not_be_among_four(cells: int, asked: int) -> None:
    suite = judged(40, dimensions={"Q1": 1.0}, variants={f"v{number}": None for number in range(cells)})

    def run(number: int, lower: int = 0) -> dict[tuple[str, str, str], tuple[int]]:
        return {
            ("m", variant, prompt): entry
            for variant in suite.variants
            for prompt, entry in going_round(number, lower if variant == "v0" else 0).items()
        }

    old = varying(suite, *[run(number) for number in range(3)])
    new = varying(suite, run(3, 28), salt="new")
    assert compared(old, new).status == "worse"
    assert len(confirm_plan(old, new)) == asked


def test_a_check_on_a_varying_row_needs_as_many_draws_as_there_are_such_rows() -> None:
    suite = builders.checks_suite(prompts(20))
    old = varying(suite, *[table(20, 1.0)] * 3)
    new = varying(suite, *[table(20, 1.0, P03=0.0)] * 12, salt="new")
    assert compared(old, first_of(new)).status == "suspect"
    assert [(need.prompt, need.times) for need in confirm_plan(old, first_of(new))] == [("P03", 11)]
    assert confirmed(old, new)[0].reason == "check_flip"


def test_a_check_that_failed_in_a_baseline_draw_counts_only_in_the_suite() -> None:
    suite = builders.checks_suite(prompts(20))
    old = varying(suite, table(20, 1.0), table(20, 1.0, P03=0.0), table(20, 1.0))
    found = compared(old, varying(suite, table(20, 1.0, P03=0.0), salt="new"))
    assert (found.exit, found.suspicions, row(found, "P03").state) == (0, [], "unchanged")


def test_a_row_better_than_its_noise_is_better_and_the_cell_too() -> None:
    suite = judged(30)
    old = varying(suite, *steady(30))
    found = compared(old, varying(suite, table(30, (5, 5)), salt="new"))
    assert (found.status, found.exit, found.cells[0].state) == ("better", 0, "better")
    assert found.counts.better > 0


def test_better_with_longer_answers_says_so() -> None:
    suite = judged(30)
    old = varying(suite, *steady(30))
    longer = {p: Outcome((5, 5), text=f"{p} " + "word " * 40) for p in prompts(30)}
    assert "longer_answers" in compared(old, varying(suite, longer, salt="new")).notes


def test_an_unsure_fall_is_within_noise_with_its_interval() -> None:
    suite = judged(8, dimensions={"Q1": 1.0})
    runs = [
        {prompt: (2 + (number + run) % 3,) for number, prompt in enumerate(prompts(8))} for run in range(3)
    ]
    found = compared(varying(suite, *runs), varying(suite, runs[1], salt="new"))
    assert (found.status, found.cells[0].state) == ("within_noise", "within_noise")
    assert found.cells[0].interval is not None
    low, high = found.cells[0].interval
    assert low < -3 or high > 3
    assert "too_few_cases" in found.notes


def test_fewer_than_five_rows_are_never_called_unchanged() -> None:
    suite = judged(4)
    found = compared(baseline(suite, table(4)), repeating(suite, table(4)))
    assert found.status == found.cells[0].state == "within_noise"
    assert found.cells[0].identical == 4
    assert "too_few_cases" in found.notes


# Safety


def flagged(prompt: str, count: int = 20) -> dict[str, Any]:
    return wobbling(count) | {prompt: Outcome((4, 4), flag=True)}


def test_a_flag_is_red_when_half_of_the_judgements_repeat_it() -> None:
    suite = judged(20)
    old, new = varying(suite, *steady(20)), varying(suite, flagged("P02"), salt="new")
    first = compared(old, new)
    assert (first.status, first.exit, first.reason) == ("suspect", 0, "red_flag")
    assert first.cells[0].safety == (True, False)
    assert [(need.kind, need.prompt, need.repeat, need.times) for need in confirm_plan(old, new)] == [
        ("judge", "P02", 1, 4)
    ]
    for answers, status in (
        ([True, True, False, False], "worse"),
        ([True, False, False, False], "suspect"),
        ([None, None, None, None], "suspect"),
    ):
        found, _, _ = confirmed(old, new, {"P02": answers})
        assert found.status == status
        assert found.exit == (status == "worse")
        assert row(found, "P02").state == status


@pytest.mark.parametrize(
    "suite",
    [judged(20, critical=["P02"]), judged(20, ko_rule=KoRule(red_flag_prompts=["P02"]))],
    ids=["safety-critical", "curated"],
)
def test_one_repeated_flag_is_enough_on_a_prompt_picked_out(suite: Suite) -> None:
    old, new = varying(suite, *steady(20)), varying(suite, flagged("P02"), salt="new")
    assert confirmed(old, new, {"P02": [False, False, True, False]})[0].status == "worse"
    assert confirmed(old, new, {"P02": [False] * 4})[0].status == "suspect"


def test_strict_flags_make_an_unconfirmed_flag_red() -> None:
    suite = judged(20, compare=CompareSettings(strict_flags=True))
    old, new = varying(suite, *steady(20)), varying(suite, flagged("P02"), salt="new")
    found, _, _ = confirmed(old, new, {"P02": [False] * 4})
    assert (found.status, found.exit, row(found, "P02").confirmed) == ("worse", ExitCode.WORSE, False)


def test_a_flag_stands_at_once_where_engine_and_judge_repeat_themselves() -> None:
    suite = judged(20)
    found = compared(baseline(suite, wobbling(20)), repeating(suite, flagged("P02")))
    assert (found.status, found.reason) == ("worse", "red_flag")
    assert row(found, "P02").confirmed


@pytest.mark.parametrize("strict", [False, True])
def test_a_flag_on_an_answer_the_baseline_kept_without_one_is_the_judges_doing(strict: bool) -> None:
    suite = judged(20, compare=CompareSettings(strict_flags=strict))
    said = {p: Outcome((4, 4), text=p) for p in prompts(20)}
    old, new = baseline(suite, said), repeating(suite, said | {"P05": Outcome((4, 4), text="P05", flag=True)})
    found = compared(old, new)
    assert (found.status, found.exit) == (("worse", 1) if strict else ("suspect", 0))
    assert found.reason == row(found, "P05").reason == "judge_reads_otherwise"
    assert not row(found, "P05").confirmed
    assert confirm_plan(old, new) == [], "the same answer was judged often enough"
    assert "judge_reads_otherwise" in found.notes
    text = comparison_text(found)
    assert strict or text.startswith("⚠ ")
    assert "the judge reads the same answer otherwise" in text.splitlines()[0]


def test_a_flag_on_another_answer_is_no_doing_of_the_judge() -> None:
    suite = judged(20)
    said = {p: Outcome((4, 4), text=p) for p in prompts(20)}
    new = repeating(suite, said | {"P05": Outcome((4, 4), text="unsafe", flag=True)})
    assert compared(baseline(suite, said), new).status == "worse"


def test_a_flag_the_baseline_had_is_no_news() -> None:
    suite = judged(20)
    old = baseline(suite, flagged("P02"))
    found = compared(old, repeating(suite, flagged("P02")))
    assert (found.status, found.suspicions) == ("unchanged", [])


def test_a_flag_on_a_new_row_is_never_under_a_green_headline() -> None:
    old = baseline(judged(20), wobbling(20))
    found = compared(old, repeating(judged(21), flagged("P20", 21)))
    assert (found.status, found.exit, row(found, "P20").state) == ("suspect", 0, "new")
    assert "red_flag_not_compared" in found.notes
    assert [item.prompt for item in found.suspicions] == ["P20"]


def near_floor(threes: int, **others: Any) -> dict[str, Any]:
    """Q2 is 3 on so many of twenty rows, else 2: with ten its mean rounds to 3, with nine to 2."""
    return {p: (5, 3) if number < threes else (5, 2) for number, p in enumerate(prompts(20))} | others


FLOOR = KoRule(dimension="Q2", threshold=2)


def test_a_floor_that_holds_once_more_is_worse() -> None:
    suite = judged(20, ko_rule=FLOOR)
    old = varying(suite, *[near_floor(10)] * 3)
    new = varying(suite, near_floor(9), near_floor(9), salt="new")
    first = compared(old, first_of(new))
    assert (first.status, first.reason, first.cells[0].safety) == ("suspect", "floor", (True, False))
    plan = confirm_plan(old, first_of(new))
    assert len(plan) == 20
    assert {(need.kind, need.times) for need in plan} == {("ask", 1)}
    found, _, _ = confirmed(old, new)
    assert (found.status, found.exit, found.reason) == ("worse", ExitCode.WORSE, "floor")


def test_a_floor_that_does_not_hold_stays_unconfirmed_and_is_told() -> None:
    suite = judged(20, ko_rule=FLOOR)
    old = varying(suite, *[near_floor(10)] * 3)
    found, _, _ = confirmed(old, varying(suite, near_floor(9), near_floor(10), salt="new"))
    assert (found.status, found.exit) == ("suspect", ExitCode.NOTHING_WORSE)
    assert "floor_unconfirmed" in found.notes


def test_a_floor_the_baseline_was_at_once_is_no_news() -> None:
    suite = judged(20, ko_rule=FLOOR)
    old = varying(suite, near_floor(10), near_floor(9), near_floor(10))
    assert suspicions_of(old, varying(suite, near_floor(9), salt="new")) == []


def test_a_repeating_engines_answers_are_judged_again_where_the_judge_wobbles() -> None:
    suite = judged(20, ko_rule=FLOOR)
    said = {p: Outcome(scores, text=p) for p, scores in near_floor(10).items()}
    wobbled = said | {"P19": Outcome((4, 2), text="P19")}
    old = repeating(suite, said, wobbled, said)
    low = repeating(suite, said | {"P09": Outcome((5, 2), text="another")})
    plan = confirm_plan(old, low)
    assert {(need.kind, need.repeat, need.times) for need in plan} == {("judge", 1, 1)}
    assert len(plan) == 20
    assert compared(old, low, Evidence(rejudged=low.draws[0])).status == "worse"
    again = repeating(suite, said).draws[0]
    assert "floor_unconfirmed" in compared(old, low, Evidence(rejudged=again)).notes


# One baseline run


def test_one_baseline_run_lists_what_fell_beyond_its_tolerance() -> None:
    suite = judged(20)
    old = varying(suite, table(20))
    found = compared(old, varying(suite, table(20, P01=(2, 4), P02=(3, 4)), salt="new"))
    assert row(found, "P01").state == "suspect"
    assert row(found, "P01").reason == "dimension_fell"
    # One level is the tolerance.
    assert row(found, "P02").reason != "dimension_fell"
    assert found.exit == 0
    assert "one_baseline_run" in found.notes
    assert found.cells[0].deterministic is None
    assert found.honesty is not None
    assert (found.honesty.noise_per_case, found.honesty.suite_drop) == (None, None)


def test_one_baseline_run_convicts_a_cell_by_the_paired_spread() -> None:
    suite = judged(20)
    found = compared(varying(suite, table(20)), varying(suite, table(20, (3, 3)), salt="new"))
    assert (found.status, found.reason) == ("worse", "suite")


# What could not be judged


def test_one_unjudged_row_of_many_is_borne() -> None:
    suite = judged(20)
    found = compared(baseline(suite, table(20)), repeating(suite, table(20, P01=None)))
    assert (found.status, found.exit, found.counts.not_judged) == ("unchanged", 0, 1)
    assert row(found, "P01").state == "not_judged"
    assert (row(found, "P01").old, row(found, "P01").new) == (80, None)


def test_more_than_one_row_and_five_percent_could_not_be_judged() -> None:
    suite = judged(20)
    found = compared(baseline(suite, table(20)), repeating(suite, table(20, P01=None, P02=None)))
    assert (found.status, found.exit) == ("not_judged", ExitCode.NOT_JUDGED)


def test_one_unjudged_safety_critical_row_is_enough() -> None:
    suite = judged(20, critical=["P01"])
    found = compared(baseline(suite, table(20)), repeating(suite, table(20, P01=None)))
    assert (found.status, found.exit) == ("not_judged", ExitCode.NOT_JUDGED)
    assert "safety_not_assessed" in found.notes


def test_E04_errors_are_left_out_of_both_sides() -> None:
    suite = judged(20)
    old = baseline(suite, table(20, P01=(5, 5)))
    found = compared(old, repeating(suite, table(20, P01=None)))
    assert (found.cells[0].old, found.cells[0].new, found.cells[0].difference) == (80, 80, 0)


def test_rows_below_the_line_are_counted_over_what_both_sides_scored() -> None:
    suite = judged(20, thresholds={"Q1": 3})
    old = baseline(suite, table(20, P01=(1, 4), P02=(2, 4)))
    [cell] = compared(old, repeating(suite, table(20, P01=None, P02=(2, 4)))).cells
    assert (cell.old_below, cell.new_below) == (1, 1)


def test_where_nothing_was_judged_the_new_side_is_unknown_and_the_old_one_known() -> None:
    suite = judged(20, thresholds={"Q1": 3})
    old = baseline(suite, table(20, P01=(1, 4), P02=(2, 4)))
    found = compared(old, repeating(suite, table(20, entry=None)))
    [cell] = found.cells
    assert (cell.old_below, cell.new_below) == (2, None)
    assert (cell.old, cell.new) == (76.25, None)
    assert "below the line 2 → n/a" in comparison_text(found)
    assert "unter der Linie 2 → n. v." in comparison_text(found, "de")


def test_a_new_cell_counts_its_own_rows_below_the_line() -> None:
    suite = judged(20, thresholds={"Q1": 3})
    new = judged(20, thresholds={"Q1": 3}, variants={"none": None, "short": "Be short."})
    cells = compared(baseline(suite, table(20)), repeating(new, table(20, P01=(1, 4)))).cells
    assert {cell.variant: (cell.old_below, cell.new_below) for cell in cells}["short"] == (None, 1)


def test_worse_comes_before_could_not_be_judged_and_that_before_not_comparable() -> None:
    suite = builders.checks_suite(prompts(20))
    old = baseline(suite, table(20, 1.0))
    broken = table(20, 1.0, P01=None, P02=None)
    both = compared(old, repeating(suite, broken | {"P03": 0.0}))
    assert both.status == "worse"
    half = builders.checks_suite(prompts(10))
    lost = compared(old, repeating(half, dict.fromkeys(prompts(10), 1.0) | {"P01": None, "P02": None}))
    assert lost.status == "not_judged"


# Cells


def test_several_cells_share_the_false_alarm_budget_and_the_worst_speaks() -> None:
    suite = judged(20, variants={"none": None, "house": "Be kind."})
    old = baseline(suite, table(20))
    lower = {("m", "house", prompt): (3, 3) for prompt in prompts(20)}
    found = compared(old, repeating(suite, table(20) | lower))
    assert [(cell.variant, cell.state) for cell in found.cells] == [("none", "unchanged"), ("house", "worse")]
    assert found.status == "worse"


def test_repeats_are_one_row_and_their_answers_one_draw() -> None:
    suite = judged(20, repeats=2)
    entry = Repeats([(4, 4), (4, 5)])
    old = baseline(suite, table(20, entry))
    found = compared(old, repeating(suite, table(20, entry, P01=Repeats([(4, 4), (3, 5)]))))
    assert found.cells[0].identical == 19
    assert row(found, "P01").moved_by == ["Q1 4 → 3.5"]


def test_a_mixed_packs_checks_stand_beside_its_pct() -> None:
    checks: dict[str, list[Check]] = {"P03": [Contains(type="contains", value="yes")]}
    suite = judged(20, checks=checks, asked={"P03": []})
    old = baseline(suite, table(20, P03=1.0))
    found = compared(old, repeating(suite, table(20, P03=0.0)))
    assert (found.status, found.reason) == ("worse", "check_flip")
    assert (found.cells[0].old, found.cells[0].new) == (80, 80)


def test_the_typical_run_is_shown_and_the_mean_is_tested() -> None:
    suite = judged(20)
    old = varying(suite, table(20, (5, 5)), table(20), table(20))
    found = compared(old, varying(suite, table(20), salt="new"))
    cell = found.cells[0]
    assert (cell.old, cell.new) == (100, 80)
    assert cell.difference == pytest.approx(-20 / 3)
    assert "typical_differs" in found.notes


# The document


def test_equal_sides_give_an_equal_comparison() -> None:
    data = DataSet("ab_few_cases_and_flag_low_n40")
    again = DataSet("ab_few_cases_and_flag_low_n40")
    first = confirmed(data.old, data.new, data.flags)[0]
    assert first == confirmed(again.old, again.new, again.flags)[0]
    assert json_pretty(first.to_json()) == json_pretty(
        confirmed(again.old, again.new, data.flags)[0].to_json()
    )


def test_fail_on_suspect_makes_a_suspicion_red() -> None:
    suite = judged(20, compare=CompareSettings(fail_on="suspect"))
    old, new = varying(suite, *steady(20)), varying(suite, flagged("P02"), salt="new")
    found = compared(old, new)
    assert (found.status, found.exit) == ("suspect", ExitCode.WORSE)
    assert "fail_on_suspect" in found.notes


@pytest.mark.parametrize("rows", [12, 50])
def test_fail_on_suspect_makes_a_single_lower_row_red(rows: int) -> None:
    for fail_on, status, code in (
        ("not-judged", "unchanged" if rows == 50 else "within_noise", ExitCode.NOTHING_WORSE),
        ("suspect", "suspect", ExitCode.WORSE),
    ):
        suite = judged(rows, compare=CompareSettings.model_validate({"fail_on": fail_on}))
        found = compared(baseline(suite, table(rows)), repeating(suite, table(rows, P03=(2, 4))))
        assert (found.counts.suspect, found.status, found.exit) == (1, status, code)
        assert ("fail_on_suspect" in found.notes) == (code == ExitCode.WORSE)


def test_a_lower_row_that_was_asked_again_is_not_told_as_one_draw() -> None:
    suite = judged(20)
    old = varying(suite, *steady(20))
    fixed = replace(old, draws=tuple(_answered_alike(draw, "P03") for draw in old.draws))
    fallen = table(20, P03=(3, 3))
    new = varying(suite, fallen, fallen, fallen, salt="new")
    once, again = compared(fixed, first_of(new)), compared(fixed, new)
    assert (row(once, "P03").reason, row(once, "P03").draws) == ("lower_one_draw", 1)
    assert "lower_one_draw" in once.notes
    assert (row(again, "P03").reason, row(again, "P03").draws) == ("lower_asked_again", 3)
    assert "lower_one_draw" not in again.notes


def _answered_alike(draw: Sequence[Row], prompt: str) -> tuple[Row, ...]:
    def alike(row: Row) -> Row:
        repeats = [repeat.replaced(answer_sha256="sha256:0") for repeat in row.repeats]
        return row.replaced(repeats=repeats)

    return tuple(alike(row) if row.prompt == prompt else row for row in draw)


def test_the_settings_are_the_baselines() -> None:
    lax = judged(20, compare=CompareSettings(min_drop=40, suspect_drop=40))
    strict = judged(20)
    lower = table(20, (3, 3))
    assert compared(baseline(strict, table(20)), repeating(lax, lower)).status == "worse"
    assert compared(baseline(lax, table(20)), repeating(strict, lower)).status != "worse"


def test_an_unjudged_row_says_why_and_has_not_lost_its_flag() -> None:
    suite = judged(20)
    failed = {p: Outcome(status="error") for p in ("P01", "P02")}
    old = baseline(suite, table(20, P01=Outcome((4, 4), flag=True)))
    found = compared(old, repeating(suite, table(20, **failed)))
    assert (row(found, "P01").reason, row(found, "P01").moved_by) == ("generation_failed", [])
    text = comparison_text(found)
    assert "P01 · none: 80.0 % → n/a  could not be judged: the request failed\n" in text
    assert f"touchstone check --resume {found.candidate.run}" in "\n".join(open_lines(found, Words()))


def test_a_row_that_nobody_judged_yet_is_told_as_that() -> None:
    suite = judged(20)
    found = compared(baseline(suite, table(20)), repeating(suite, table(20, P01=Outcome(verdict=None))))
    assert (row(found, "P01").state, row(found, "P01").reason) == ("not_judged", None)
    assert "nicht beurteilbar: noch nicht bewertet" in comparison_text(found, "de")


def test_an_answer_that_is_cut_now_is_a_move() -> None:
    suite = judged(20)
    cut = Outcome((4, 4), status="truncated", text="Half an")
    found = compared(baseline(suite, table(20)), repeating(suite, table(20, P01=cut)))
    assert row(found, "P01").moved_by == ["truncated"]
    assert "[truncated]" in comparison_text(found)
    again = compared(baseline(suite, table(20, P01=cut)), repeating(suite, table(20, P01=cut)))
    assert row(again, "P01").moved_by == []


def test_an_old_number_over_fewer_rows_says_over_how_many() -> None:
    suite = judged(20)
    found = compared(baseline(suite, table(20, P01=(1, 1))), repeating(suite, table(20, P01=None)))
    assert (found.cells[0].old, found.cells[0].over) == (80, 19)
    assert "80.0 % → 80.0 %  +0.0 points" in comparison_text(found)
    assert "(over 19 shared rows)" in comparison_text(found)
    whole = compared(baseline(suite, table(20)), repeating(suite, table(20, P01=None)))
    assert whole.cells[0].over is None


def test_better_on_identical_answers_is_the_judges_doing_and_nothing_to_keep() -> None:
    suite = judged(30)
    old = baseline(suite, {p: Outcome((4, 4), text=p) for p in prompts(30)})
    found = compared(old, repeating(suite, {p: Outcome((5, 5), text=p) for p in prompts(30)}))
    assert (found.status, found.reason, found.exit) == ("better", "judge_alone", 0)
    text = comparison_text(found)
    assert "BETTER (only the judge moved: fresh verdicts on identical answers)" in text
    assert "Keep this" not in text
    assert "touchstone rejudge" in text
    other = {p: Outcome((5, 5), text=f"{p} anew") for p in prompts(30)}
    assert compared(old, repeating(suite, other)).reason == "suite"


def test_a_length_notice_names_the_cell_and_how_much_longer() -> None:
    suite = judged(30)
    longer = {p: Outcome((5, 5), text=f"{p} " + "word " * 40) for p in prompts(30)}
    found = compared(varying(suite, *steady(30)), varying(suite, longer, salt="new"))
    was, now = found.cells[0].length
    assert was is not None
    assert now is not None
    told = f"⚠ possible length confound: the score of »m · none« rose and its answers are {now / was - 1:.0%}"
    assert told.replace("%", " %") in comparison_text(found)
    assert "Längen-Confound möglich: der Wert von »m · none« stieg" in comparison_text(found, "de")


def test_a_variant_that_scores_higher_with_longer_answers_is_named() -> None:
    suite = judged(20, variants={"short": None, "long": "At length."})
    rows = {("m", "long", p): Outcome((5, 5), text="word " * 40) for p in prompts(20)}
    found = compared(baseline(suite, table(20) | rows), repeating(suite, table(20) | rows))
    assert "longer_variant" in found.notes
    assert "the higher-scored variant »long« is" in comparison_text(found)


def test_comparison_json_is_the_golden_one() -> None:
    checks: dict[str, list[Check]] = {"P03": [Contains(type="contains", value="yes")]}
    options: dict[str, Any] = {"checks": checks, "critical": ["P05"]}
    before = judged(10, variants={"house": "Be kind.\nBe short."}, **options)
    after = judged(11, variants={"house": "Be kind.\nBe long."}, thresholds={"Q1": 4.5}, **options)
    old = baseline(before, table(10))
    new = repeating(after, table(11, P01=(3, 4), P02=(5, 5), P03=Outcome((4, 4), checks=0.0)))
    text = json_pretty(compared(old, new).to_json(), sort_keys=False)
    assert text == golden("comparison.json", text)
