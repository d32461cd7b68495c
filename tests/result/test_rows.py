"""Rows: the plan laid over responses and verdicts."""

from __future__ import annotations

from tests.kit.builders import (
    Outcome,
    Repeats,
    checks_suite,
    judged_suite,
    labelled_suite,
    manifest,
    responses,
    verdicts,
)
from touchstone.files import sha256_of
from touchstone.pack.checks import Check, Contains, Latency
from touchstone.result.rows import rows_of
from touchstone.run.records import SampleKey


def test_rows_stand_in_plan_order_whatever_order_the_lines_have() -> None:
    suite = judged_suite(["B1", "A1"], variants={"plain": None, "house": "Be kind."}, repeats=2)
    asked = manifest(suite, ["m2", "m1"])
    table = {"A1": [4, 4], "B1": [3, 3]}
    given = responses(asked, table)
    said = verdicts(asked, table, given)
    rows = rows_of(asked, given, said)

    assert [row.key for row in rows] == [
        (model, variant, prompt)
        for model in ("m2", "m1")
        for variant in ("plain", "house")
        for prompt in ("B1", "A1")
    ]
    assert [repeat.repeat for repeat in rows[0].repeats] == [1, 2]
    backwards = rows_of(asked, dict(reversed(given.items())), dict(reversed(said.items())))
    assert backwards == rows


def test_what_is_missing_is_null() -> None:
    asked = manifest(judged_suite(["A1"], repeats=2))
    table = {"A1": Repeats([[4, 5], Outcome(status=None)])}
    given = responses(asked, table)
    [row] = rows_of(asked, given, verdicts(asked, table, given))

    missing = row.repeats[1]
    assert (missing.status, missing.verdict, missing.answer_sha256, missing.answer_chars) == (None,) * 4
    assert (missing.scores, missing.red_flag, missing.completion_tokens) == ({}, None, None)


def test_other_draws_do_not_enter() -> None:
    asked = manifest(judged_suite(["A1"]))
    given = responses(manifest(judged_suite(["A1"]), draw=7), {"A1": [5, 5]})
    [row] = rows_of(asked, given, {})
    assert row.repeats[0].status is None


def test_a_verdict_on_an_earlier_answer_counts_as_missing() -> None:
    asked = manifest(judged_suite(["A1"]))
    table = {"A1": [4, 5]}
    said = verdicts(asked, table, responses(asked, table))
    [row] = rows_of(asked, responses(asked, table, salt="asked again"), said)
    assert row.repeats[0].verdict is None
    assert row.repeats[0].scores == {}


def test_a_failed_generation_asked_again_is_not_settled_by_its_old_verdict() -> None:
    asked = manifest(judged_suite(["A1"]))
    failed = {"A1": Outcome(status="error")}
    said = verdicts(asked, failed, responses(asked, failed))
    given = responses(asked, {"A1": Outcome(status="empty", verdict=None)})
    [row] = rows_of(asked, given, said)
    assert row.repeats[0].status == "empty"
    assert row.repeats[0].verdict is None


def test_a_later_pass_of_the_judge_is_not_the_verdict() -> None:
    asked = manifest(judged_suite(["A1"]))
    table = {"A1": [4, 5]}
    given = responses(asked, table)
    again = {key: verdict.replaced(pass_=1) for key, verdict in verdicts(asked, table, given).items()}
    [row] = rows_of(asked, given, again)
    assert row.repeats[0].verdict is None


def test_partial_text_of_a_failed_generation_is_no_answer() -> None:
    asked = manifest(judged_suite(["A1"]))
    table = {"A1": Outcome(status="error", text="Half a sen")}
    given = responses(asked, table)
    [row] = rows_of(asked, given, verdicts(asked, table, given))
    repeat = row.repeats[0]
    assert (repeat.status, repeat.verdict, repeat.reason) == ("error", "unscored", "generation_failed")
    assert (repeat.answer_sha256, repeat.answer_chars) == (None, None)


def test_an_answer_is_known_by_hash_and_length() -> None:
    asked = manifest(labelled_suite({"A1": "other"}))
    table = {"A1": Outcome(label="other", text="other – naïve")}
    given = responses(asked, table)
    [row] = rows_of(asked, given, verdicts(asked, table, given))
    assert row.repeats[0].answer_sha256 == sha256_of("other – naïve")
    assert row.repeats[0].answer_chars == 13
    assert row.repeats[0].label == "other"
    assert SampleKey("m", "none", "A1", 1, 0) in given


def test_checks_that_never_count_stand_apart() -> None:
    checks: list[Check] = [
        Contains(type="contains", value="x"),
        Latency(type="latency", id="fast", e2e_max_s=1),
    ]
    asked = manifest(checks_suite(["A1"], checks={"A1": checks}))
    table = {"A1": Outcome(checks={"contains": 1.0, "fast": 0.0})}
    given = responses(asked, table)
    [row] = rows_of(asked, given, verdicts(asked, table, given))
    assert row.repeats[0].checks.keys() == {"contains"}
    assert row.repeats[0].listed["fast"].status == "fail"
