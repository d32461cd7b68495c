"""The whole document: recomputable, complete, stable."""

from __future__ import annotations

import random

import pytest

from tests.kit.builders import (
    JUDGE,
    STARTED,
    Outcome,
    checks_suite,
    judged_suite,
    manifest,
    response,
    responses,
    result,
    verdicts,
)
from tests.kit.golden import golden
from touchstone.errors import BadInputError
from touchstone.files import json_document, json_line, json_pretty, parse_json
from touchstone.judge.records import JudgeIdentity, Verdict
from touchstone.pack.checks import Check, Contains, Latency, Levenshtein
from touchstone.pack.digest import hashes_of
from touchstone.pack.schema import KoRule
from touchstone.pack.suite import Suite
from touchstone.records import record_from
from touchstone.result.build import build_result_doc
from touchstone.result.schema import JudgeInfo, ResultDoc
from touchstone.result.timing import CellMachine
from touchstone.run.records import EvalResponse, SampleKey

TABLE = {
    "A1": [5, 4],
    "A2": Outcome([3, 2], flag=True, checks={"contains": 0.0, "latency": 0.0}),
    "B1": None,
    "B2": Outcome(status="error"),
    "C1": Outcome(status="reasoning_only"),
}


def house() -> Suite:
    """Two variants, checks that count and one that does not, lines, a knock-out rule."""
    return judged_suite(
        list(TABLE),
        thresholds={"Q1": 3},
        ko_rule=KoRule(dimension="Q1", threshold=2, red_flag_prompts=["A1"]),
        checks={
            "A1": [Contains(type="contains", value="4")],
            "A2": [Contains(type="contains", value="7", threshold=0.5), Latency(type="latency", e2e_max_s=2)],
        },
        critical=["A1"],
        variants={"none": None, "house": "Be brief.\nBe kind."},
    )


def full() -> ResultDoc:
    """A run with one of everything."""
    return result(
        house(),
        TABLE | {("m", "house", "A2"): Outcome([4, 4], status="truncated")},
        version="b7",
        models=["m"],
        build={
            "calibrated": True,
            "left_out": {SampleKey("m", "none", "A2", 1, 0)},
            "resources": {("m", "none"): CellMachine(21.25, 4.5, "normal", "moderate", None)},
        },
    )


def loaded(document: ResultDoc) -> ResultDoc:
    return ResultDoc.model_validate(parse_json(json_document(document.to_json()), "result.json"))


def test_a_full_result_is_the_golden_file() -> None:
    text = json_document(full().to_json())
    assert text == golden("result.json", text)


def test_one_response_line_is_the_golden_file() -> None:
    answered = response(
        SampleKey("m", "none", "A1", 1, 0),
        "Vier – “4”.\u2028Fertig.",
        t_start=1777881600.25,
        t_end=1777881601.25,
        served_model="m-q4",
        notes=["no_done"],
    )
    text = json_line(answered.to_json()) + "\n"
    assert text == golden("response.jsonl", text)
    assert record_from(EvalResponse, parse_json(text, "line")) == answered


def test_one_verdict_line_is_the_golden_file() -> None:
    suite = house()
    asked = manifest(suite)
    given = responses(asked, TABLE)
    verdict = verdicts(asked, TABLE, given, "b7")[SampleKey("m", "none", "A2", 1, 0)]
    text = json_line(verdict.to_json()) + "\n"
    assert text == golden("verdict.jsonl", text)
    assert record_from(Verdict, parse_json(text, "line")) == verdict


def test_the_document_in_memory_is_the_one_on_disk() -> None:
    document = full()
    assert loaded(document) == document


def test_fractions_in_memory_are_those_on_disk() -> None:
    third = {"ttft_s": 1 / 3, "decode_tps": 100 / 7, "e2e_s": 2 / 3}
    checks: dict[str, list[Check]] = {"B": [Levenshtein(type="levenshtein", value="x")]}
    suite = judged_suite(["A", "B"], dimensions={"Q1": 1, "Q2": 1, "Q3": 1}, checks=checks)
    table = {"A": [5, 4, 4], "B": Outcome([4, 4, 5], checks=8 / 9, response=third)}
    document = result(suite, table)
    assert loaded(document) == document
    assert document.rows[0].pct == 86.666667
    assert document.rows[1].repeats[0].checks["levenshtein"].score == 0.888889
    assert document.cells[0].perf.decode_med == 14.285714


def test_same_lines_same_document_in_whatever_order_they_come() -> None:
    asked = manifest(house())
    given = responses(asked, TABLE)
    said = verdicts(asked, TABLE, given)
    first = build_result_doc(asked, given, said, judged=STARTED)
    shuffled = list(given.items())
    random.Random(3).shuffle(shuffled)
    again = build_result_doc(asked, dict(shuffled), dict(reversed(said.items())), judged=STARTED)
    assert json_pretty(again.to_json(), sort_keys=False) == json_pretty(first.to_json(), sort_keys=False)


def test_before_judging_quality_is_null_and_nobody_judged() -> None:
    document = result(house(), TABLE, judged=None)
    assert loaded(document) == document
    assert document.judge is None
    assert document.run.judged is None
    assert not document.run.complete
    assert {row.state for row in document.rows} == {None}
    assert [(cell.quality, cell.labels) for cell in document.cells] == [(None, None)] * 2
    assert document.cells[0].perf.e2e_med == 1.0
    assert document.cells[0].counts.answered == 4


def test_a_day_of_judging_without_verdicts_is_none() -> None:
    document = build_result_doc(manifest(house()), {}, {}, judged="2026-05-09T00:00:00Z")
    assert document.run.judged is None


def test_judging_keeps_evals_provenance_and_date() -> None:
    before = result(house(), TABLE, judged=None)
    after = result(house(), TABLE, judged="2026-05-09T00:00:00Z")
    assert after.provenance == before.provenance
    assert (after.run.started, after.run.finished) == (before.run.started, before.run.finished)
    assert after.run.judged == "2026-05-09T00:00:00Z"


def test_times_are_utc() -> None:
    document = result(judged_suite(["A"]), {"A": [5, 5]}, started="2026-05-04T00:30:00+02:00")
    assert document.provenance.date == "2026-05-03"
    assert document.run.finished == "2026-05-03T22:30:01Z"


def test_the_judge_that_judged_becomes_the_instrument() -> None:
    suite = judged_suite(["A"])
    unknown, known = result(suite, {"A": [5, 5]}), result(suite, {"A": [5, 5]}, version="b7")
    assert known.judge == JudgeInfo(
        model=JUDGE.model, version="b7", temperature=0.0, seed=42, samples=1, prompt_version=1
    )
    assert known.instrument.judge is not None
    assert known.instrument.judge.version == "b7"
    assert known.hashes.instrument != unknown.hashes.instrument
    assert known.hashes.rules == unknown.hashes.rules
    assert unknown.hashes == hashes_of(suite)


def test_a_named_judge_goes_before_the_manifests() -> None:
    told = JudgeInfo(model="other", version=None, temperature=0.5, seed=1, samples=3, prompt_version=2)
    document = result(judged_suite(["A"]), {"A": [5, 5]}, build={"judge": told, "rejudged": True})
    assert document.judge == told
    assert document.instrument.judge is not None
    assert (document.instrument.judge.model, document.instrument.judge.samples) == ("other", 3)
    assert document.run.rejudged


def test_verdicts_of_two_judges_are_refused() -> None:
    asked = manifest(judged_suite(["A", "B"]))
    table = {"A": [5, 5], "B": [4, 4]}
    given = responses(asked, table)
    said = verdicts(asked, table, given)
    last = list(said)[-1]
    other = JudgeIdentity(model="judge-7b", version="b8", prompt_version=1)
    said[last] = said[last].replaced(judge=other)
    with pytest.raises(BadInputError, match=r"judge-7b, version n/a.*judge-7b, version b8"):
        build_result_doc(asked, given, said)


def test_a_checks_only_run_has_no_judge() -> None:
    document = result(checks_suite(["A"]), {"A": 1.0})
    assert document.judge is None
    assert document.instrument.judge is None
    assert document.run.complete
    assert document.cells[0].usage.judge_calls == 0


def test_a_run_with_an_error_verdict_is_complete_and_one_without_an_answer_is_not() -> None:
    assert result(judged_suite(["A"]), {"A": None}).run.complete
    assert not result(judged_suite(["A"]), {"A": Outcome(status="error")}).run.complete
    assert not result(judged_suite(["A", "B"]), {"A": [5, 5]}).run.complete


def test_usage_is_null_where_an_answer_was_not_counted() -> None:
    uncounted = Outcome([5, 5], response={"prompt_tokens": None, "attempts": 3})
    usage = result(judged_suite(["A", "B"]), {"A": [5, 5], "B": uncounted}).cells[0].usage
    assert (usage.calls, usage.prompt_tokens) == (4, None)
    assert usage.completion_tokens == 18
    assert (usage.judge_calls, usage.judge_tokens, usage.judge_s) == (2, 660, 1.0)


def test_a_narrowed_run_lists_what_it_asked() -> None:
    document = result(house(), TABLE, plan=[("A2", 1)], filter="only=A2")
    assert list(document.cases) == ["A2"]
    assert [row.prompt for row in document.rows] == ["A2", "A2"]
    assert document.run.filter == "only=A2"
    assert document.run.complete


def test_no_free_text_machine_label_anywhere() -> None:
    def keys(value: object) -> set[str]:
        if isinstance(value, dict):
            return set(value).union(*map(keys, value.values()))
        return set().union(*map(keys, value)) if isinstance(value, list) else set()

    assert "machine" not in keys(full().to_json())


def test_quant_is_the_models_with_its_origin() -> None:
    under_test = {"id": "m", "quant": "Q4_K_M", "quant_origin": "probe"}
    document = build_result_doc(manifest(judged_suite(["A"]), [under_test]), {}, {})
    assert (document.cells[0].quant, document.cells[0].quant_origin) == ("Q4_K_M", "probe")
