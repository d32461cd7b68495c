"""The typical run of three."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.builders import JUDGE, Outcome, checks_suite, judged_suite, labelled_suite, result
from touchstone.errors import RefusedError
from touchstone.files import json_pretty, parse_json
from touchstone.pack.checks import Contains
from touchstone.pack.suite import Suite
from touchstone.result.schema import ResultDoc
from touchstone.result.select import Selection, cost_of, select_typical

CASES = Path(__file__).parent.parent / "cases" / "public"


def three(suite: Suite, *tables: Mapping[str, Any], **fields: Sequence[Any]) -> list[ResultDoc]:
    """Runs a, b, c … of one suite, an hour apart; `fields` give each run its own value."""
    runs = []
    for index, table in enumerate(tables):
        usual: dict[str, Any] = {
            "id": "abcdefg"[index],
            "draw": index,
            "launch": f"{index}:1",
            "started": f"2026-05-04T{8 + index:02}:00:00Z",
        }
        own = {name: values[index] for name, values in fields.items()}
        runs.append(result(suite, table, **(usual | own)))
    return runs


def newsletter(wrong: Sequence[int]) -> dict[str, Any]:
    """21 articles, all relevant, some of them missed."""
    return {f"N{n}": "other" if n in wrong else "relevant" for n in range(1, 22)}


def test_the_odd_one_out_of_16_14_16_is_not_chosen() -> None:
    suite = labelled_suite({f"N{n}": "relevant" for n in range(1, 22)})
    missed = ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 8])
    runs = three(suite, *map(newsletter, missed))
    chosen = select_typical(runs)
    assert [round(total * 21 / 100) for total in chosen.totals] == [16, 14, 16]
    assert chosen.run in {"a", "c"}
    assert not chosen.outlier_total
    # N5, N6, N7, N8 differ: the middle is wrong, right, right, right.
    assert [row.prompt for row in chosen.rows] == ["N5", "N6", "N7", "N8"]
    assert [row.middle for row in chosen.rows] == [[0, 1], [0, 2], [0, 2], [0, 1]]
    assert (chosen.tally, chosen.chosen, chosen.decided_by) == ([4, 2, 2], 0, "votes")


def test_a_vote_that_falls_on_an_outlier_total_says_so() -> None:
    suite = judged_suite(["A", "B", "C", "D"], dimensions={"Q1": 1})
    runs = three(
        suite,
        {"A": [4], "B": [4], "C": [4], "D": [1]},
        {"A": [5], "B": [3], "C": [5], "D": [4]},
        {"A": [3], "B": [5], "C": [3], "D": [5]},
    )
    chosen = select_typical(runs)
    assert (chosen.run, chosen.tally) == ("a", [3, 1, 0])
    assert chosen.totals == [65.0, 85.0, 80.0]
    assert chosen.outlier_total


def test_E13_a_tie_at_the_median_goes_to_the_older_run() -> None:
    case = json.loads((CASES / "eval" / "E13-median-tie.json").read_text())
    suite = judged_suite(["P"], dimensions={f"Q{number}": 1.0 for number in range(10)})
    means = [run["mean"] for run in case["runs"]]
    runs = three(suite, *({"P": ten_scores(mean)} for mean in means), id=[run["run"] for run in case["runs"]])
    chosen = select_typical(runs)
    assert chosen.totals == [pytest.approx(20 * mean) for mean in means]
    assert chosen.rows[0].middle == [1, 2]
    assert (chosen.run, chosen.decided_by) == (case["expected"], "age")


def ten_scores(mean: float) -> list[int]:
    """Ten whole scores of the given mean."""
    whole, more = divmod(round(mean * 10), 10)
    return [whole + (index < more) for index in range(10)]


def test_equal_runs_are_decided_by_age_then_id() -> None:
    suite, table = judged_suite(["A"]), {"A": [4, 4]}
    chosen = select_typical(three(suite, table, table, table, id=["z", "y", "x"]))
    assert (chosen.rows, chosen.tally, chosen.run, chosen.decided_by) == ([], [0, 0, 0], "z", "age")
    same_second = three(suite, table, table, table, started=["2026-05-04T08:00:00Z"] * 3, id=["z", "y", "x"])
    assert select_typical(same_second).run == "x"


def test_a_tie_goes_to_the_cheaper_run() -> None:
    suite = judged_suite(["A"])

    def costing(tokens: int | None, attempts: int = 1) -> dict[str, Any]:
        return {"A": Outcome([4, 4], response={"completion_tokens": tokens, "attempts": attempts})}

    fewer_tokens = select_typical(three(suite, costing(50), costing(40, attempts=3), costing(60)))
    assert (fewer_tokens.run, fewer_tokens.decided_by) == ("b", "tokens")
    fewer_calls = select_typical(three(suite, costing(50, attempts=2), costing(50), costing(50, attempts=2)))
    assert (fewer_calls.run, fewer_calls.decided_by) == ("b", "calls")
    uncounted = select_typical(three(suite, costing(50, attempts=2), costing(None), costing(10, attempts=2)))
    assert (uncounted.run, uncounted.decided_by) == ("b", "calls")
    assert [cost.tokens for cost in uncounted.costs] == [430, None, 390]


def test_cost_counts_judging_too() -> None:
    [run] = three(judged_suite(["A", "B"]), {"A": [4, 4], "B": [4, 4]})
    assert cost_of(run).calls == 4


def test_a_value_is_ordered_by_pct_then_flags_then_failed_checks() -> None:
    suite = judged_suite(["A"], checks={"A": [Contains(type="contains", value="x")]})

    def value(score: int, flag: bool, check: float) -> dict[str, Any]:
        return {"A": Outcome([score, score], flag=flag, checks=check)}

    by_flags = select_typical(three(suite, value(4, True, 1), value(4, False, 0), value(4, False, 1)))
    assert by_flags.rows[0].middle == [1]
    by_pct = select_typical(three(suite, value(3, False, 1), value(5, True, 0), value(4, False, 0)))
    assert by_pct.rows[0].middle == [2]
    assert by_pct.rows[0].values[1].model_dump() == {
        "pct": 100.0,
        "flags": 1,
        "failed_checks": 1,
        "class_right": None,
    }


def test_five_runs_have_a_middle_too() -> None:
    suite = judged_suite(["A"], dimensions={"Q1": 1})
    chosen = select_typical(three(suite, *({"A": [score]} for score in (5, 1, 3, 2, 4))))
    assert (chosen.run, chosen.tally) == ("c", [0, 0, 1, 0, 0])


def test_the_selection_survives_the_file() -> None:
    suite = judged_suite(["A", "B"])
    chosen = select_typical(
        three(suite, {"A": [4, 4], "B": [4, 5]}, {"A": [5, 4], "B": [3, 3]}, {"A": [3, 4], "B": [4, 4]})
    )
    text = json_pretty(chosen.to_json(), sort_keys=False)
    assert Selection.model_validate(parse_json(text, "selection.json")) == chosen
    assert chosen.rows_compared == 2


@pytest.mark.parametrize(
    ("launches", "same"),
    [
        (["1:1", "2:1", "3:1"], False),
        (["1:1", "2:1", "1:1"], True),
        ([None, "1:1", "1:1"], True),
        ([None, "1:1", "2:1"], None),
        ([None, None, None], None),
    ],
)
def test_runs_of_one_launch_are_told(launches: list[str | None], same: bool | None) -> None:
    table = {"A": [4, 4]}
    assert (
        select_typical(three(judged_suite(["A"]), table, table, table, launch=launches)).same_launch is same
    )


def refusal(runs: Sequence[ResultDoc]) -> str:
    with pytest.raises(RefusedError) as caught:
        select_typical(runs)
    assert caught.value.hint is not None
    assert "touchstone measure --times 3" in caught.value.hint
    return caught.value.message


@pytest.mark.parametrize("number", [0, 1, 2, 4])
def test_an_even_number_or_too_few_are_refused(number: int) -> None:
    runs = three(judged_suite(["A"]), *[{"A": [4, 4]}] * number)
    assert f"{number} given; a middle needs an odd number of runs, at least 3" in refusal(runs)


def test_the_same_run_twice_is_refused() -> None:
    first, second = three(judged_suite(["A"]), {"A": [4, 4]}, {"A": [5, 5]})
    assert "a is given 2 times" in refusal([first, second, first])


def test_incomplete_runs_and_runs_with_errors_are_refused_all_at_once() -> None:
    suite = judged_suite(["A", "B", "C"])
    good = {"A": [4, 4], "B": [4, 4], "C": [4, 4]}
    message = refusal(
        three(
            suite,
            good | {"B": None},
            good | {"C": Outcome(verdict=None)},
            good | {"A": Outcome(status="error")},
        )
    )
    assert "a has rows that could not be judged: B" in message
    assert "b is not judged to the end: C" in message
    assert "c has rows that could not be judged: A" in message


@pytest.mark.parametrize("reason", ["check_error", "no_class"])
def test_a_check_that_cannot_read_an_answer_is_named_as_what_to_change(reason: str) -> None:
    suite = judged_suite(["A", "B"])
    good = {"A": [4, 4], "B": [4, 4]}
    broken = Outcome([4, 4], verdict="error", reason=reason)
    message = refusal(three(suite, good, good | {"B": broken}, good))
    assert "b has rows whose check could not read the answer: B; it says so every time" in message
    assert "whose check" not in refusal(three(suite, good, good | {"B": None}, good))


def test_what_is_no_draw_of_its_own_is_refused() -> None:
    suite, table = judged_suite(["A"]), {"A": [4, 4]}
    again, reused, other = three(suite, table, table, table)
    again = again.model_copy(update={"run": again.run.model_copy(update={"rejudged": True})})
    reused = reused.model_copy(update={"run": reused.run.model_copy(update={"reused_verdicts": 1})})
    message = refusal([again, reused, other])
    assert "a holds another run's answers, judged again" in message
    assert "b has 1 verdicts of another run" in message


def test_a_run_that_was_never_judged_is_refused() -> None:
    suite, table = judged_suite(["A"]), {"A": [4, 4]}
    unjudged = result(suite, table, judged=None, id="c")
    assert "c is not judged to the end: A" in refusal([*three(suite, table, table), unjudged])


def test_every_difference_is_named_with_both_values() -> None:
    table = {"A": [4, 4]}
    usual = three(judged_suite(["A"]), table, table)
    instrument = usual[0].instrument
    judge = JUDGE.model_copy(update={"model": "judge-30b"})
    odd = usual[0].model_copy(
        update={
            "run": usual[0].run.model_copy(update={"id": "c", "tenant": "acme"}),
            "instrument": instrument.model_copy(update={"judge": judge}),
        }
    )
    message = refusal([*usual, odd])
    assert 'a and c differ in tenant: "default" → "acme"' in message
    assert 'a and c differ in instrument.judge.model: "judge-7b" → "judge-30b"' in message
    assert "a and b" not in message


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (judged_suite(["A"], thresholds={"Q1": 3}), "rules.dimensions.Q1.threshold: null → 3"),
        (judged_suite(["A"], dimensions={"Q1": 2, "Q2": 1}), "instrument.dimensions[0].weight: 3 → 2"),
        (judged_suite(["A"], inputs={"A": "Else?"}), "case.A.input_sha256: "),
        (judged_suite(["A"], critical=["A"]), "case.A.rubric_sha256: "),
        (judged_suite(["A"], repeats=2), "repeats of m · none · A: 1 → 2"),
        (judged_suite(["A"], variants={"none": "Be kind."}), "prompt.none: null → "),
        (judged_suite(["A"], variants={"house": None}), "repeats of m · none · A: 1 → 0"),
        (judged_suite(["A", "B"]), "case.B: null → "),
        (judged_suite(["A"], pack_id="other"), 'pack: "pack" → "other"'),
    ],
)
def test_runs_of_another_system_are_refused(other: Suite, named: str) -> None:
    table = {"A": [4, 4], "B": [4, 4]}
    runs = [*three(judged_suite(["A"]), table, table), result(other, table, id="c")]
    assert f"a and c differ in {named}" in refusal(runs)


def test_other_models_are_refused() -> None:
    suite, table = checks_suite(["A"]), {"A": 1.0}
    runs = [*three(suite, table, table), result(suite, table, id="c", models=["m2"])]
    assert 'a and c differ in models: ["m"] → ["m2"]' in refusal(runs)


SCORES = st.lists(st.integers(min_value=1, max_value=5), min_size=3, max_size=3)


@settings(max_examples=40, deadline=None)
@given(st.lists(SCORES, min_size=3, max_size=3))
def test_the_order_of_the_runs_does_not_matter(scores: list[list[int]]) -> None:
    suite = judged_suite(["A", "B", "C"], dimensions={"Q1": 1})
    tables = [dict(zip("ABC", ([score] for score in of_run), strict=True)) for of_run in scores]
    runs = three(suite, *tables)
    chosen = select_typical(runs)
    assert chosen.tally[chosen.chosen] == max(chosen.tally)
    for order in itertools.permutations(range(3)):
        again = select_typical([runs[index] for index in order])
        assert again.run == chosen.run
        assert again.tally == [chosen.tally[index] for index in order]
        assert again.outlier_total == chosen.outlier_total
        assert [row.prompt for row in again.rows] == [row.prompt for row in chosen.rows]


@settings(max_examples=40, deadline=None)
@given(st.lists(SCORES, min_size=3, max_size=3))
def test_every_differing_row_has_a_middle_that_is_neither_all_nor_none(scores: list[list[int]]) -> None:
    suite = judged_suite(["A", "B", "C"], dimensions={"Q1": 1})
    tables = [dict(zip("ABC", ([score] for score in of_run), strict=True)) for of_run in scores]
    for row in select_typical(three(suite, *tables)).rows:
        held = [value.pct for value in row.values]
        assert 1 <= len(row.middle) < 3
        assert {held[index] for index in row.middle} == {sorted(held)[1]}
