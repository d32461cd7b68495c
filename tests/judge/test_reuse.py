"""Verdicts of another run: taken over only where the judge would be asked the very same again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.judge.scenes import (
    IDENTITY,
    SCALE,
    Judge,
    always,
    bundle_of,
    honest,
    judged_suite,
    verdict_text,
)
from touchstone.errors import RefusedError
from touchstone.judge.phase import JudgeOutcome, judge_bundle
from touchstone.judge.records import Verdict
from touchstone.judge.reuse import earlier_verdicts
from touchstone.judge.verdicts import read_verdicts
from touchstone.pack.checks import Contains
from touchstone.pack.suite import Case, InstrumentDimension, Suite
from touchstone.run.bundle import Bundle
from touchstone.run.records import SampleKey

OLD = "20260504T080000Z_pack_000001"
NEW = "20260504T090000Z_pack_000002"


def judged(runs: Path, suite: Suite | None = None, asked: Judge | None = None, **fields: Any) -> Bundle:
    """A run every answer of which has its verdict."""
    bundle = bundle_of(runs, suite or judged_suite(), **({"id": OLD} | fields))
    judge_bundle(bundle, asked or honest(), identity=IDENTITY)
    return bundle


def again(
    old: Bundle, suite: Suite | None = None, asked: Judge | None = None, **options: Any
) -> tuple[JudgeOutcome, Judge, dict[SampleKey, Verdict]]:
    """A new run of the same answers, judged with the old one's verdicts at hand; what was asked and kept."""
    judge = asked or always(verdict_text({"Q1": 1, "Q2": 1}))
    given: dict[str, Any] = {name: options.pop(name) for name in ("answers", "draw", "id") if name in options}
    new = bundle_of(old.path.parent, suite or judged_suite(), **({"id": NEW} | given))
    identity = options.pop("identity", IDENTITY)
    outcome = judge_bundle(new, judge, identity=identity, earlier=earlier_verdicts(new, old), **options)
    return outcome, judge, read_verdicts(new.path)


def with_case(suite: Suite, prompt: str, **fields: Any) -> Suite:
    """The suite with one of its cases otherwise."""
    case = Case.trusted(**{name: getattr(suite.cases[prompt], name) for name in Case.__slots__} | fields)
    return suite.model_copy(update={"cases": {**suite.cases, prompt: case}})


def test_unchanged_answers_ask_nobody_and_say_whose_verdict_they_have(tmp_path: Path) -> None:
    old = judged(tmp_path)
    outcome, judge, kept = again(old)
    assert (judge.requests, outcome.calls, outcome.judged) == ([], 0, 3)
    assert {verdict.reused_from for verdict in kept.values()} == {OLD}
    was = read_verdicts(old.path)
    for key, verdict in kept.items():
        assert (verdict.scores, verdict.rationale) == (was[key].scores, was[key].rationale)
        assert (verdict.seconds, verdict.prompt_tokens) == (None, None), "this run paid nothing for it"


def test_another_answer_is_judged(tmp_path: Path) -> None:
    _, judge, kept = again(judged(tmp_path), answers={"A2": "another answer"})
    assert len(judge.requests) == 1
    assert [key.prompt for key, verdict in kept.items() if verdict.reused_from is None] == ["A2"]
    assert next(verdict for key, verdict in kept.items() if key.prompt == "A2").scores == {"Q1": 1, "Q2": 1}


@pytest.mark.parametrize(
    "moved", [{"rubric_sha256": "sha256:other"}, {"input_sha256": "sha256:other"}], ids=["rubric", "input"]
)
def test_another_rubric_or_input_is_judged(tmp_path: Path, moved: dict[str, str]) -> None:
    _, judge, kept = again(judged(tmp_path), with_case(judged_suite(), "A3", **moved))
    assert len(judge.requests) == 1
    assert [key.prompt for key, verdict in kept.items() if verdict.reused_from is None] == ["A3"]


def test_another_wording_of_scale_or_dimension_is_judged(tmp_path: Path) -> None:
    old, suite = judged(tmp_path), judged_suite()
    about = [
        InstrumentDimension(id=each.id, name=each.name, weight=each.weight, about="otherwise")
        for each in suite.instrument.dimensions
    ]
    moved: list[dict[str, Any]] = [{"dimensions": about}, {"scale": {**SCALE, 5: "flawless"}}]
    for number, fields in enumerate(moved):
        other = suite.model_copy(update={"instrument": suite.instrument.model_copy(update=fields)})
        _, judge, kept = again(old, other, id=f"{NEW}{number}")
        assert len(judge.requests) == 3
        assert {verdict.reused_from for verdict in kept.values()} == {None}


def test_another_version_of_the_judge_judges(tmp_path: Path) -> None:
    _, judge, kept = again(judged(tmp_path), identity=IDENTITY.model_copy(update={"version": "b2"}))
    assert len(judge.requests) == 3
    assert {verdict.reused_from for verdict in kept.values()} == {None}


@pytest.mark.parametrize(
    "setting", [{"model": "judge-8b"}, {"temperature": 0.5}, {"samples": 3}, {"seed": 7}]
)
def test_another_judge_is_refused_whole(tmp_path: Path, setting: dict[str, Any]) -> None:
    old = judged(tmp_path)
    with pytest.raises(RefusedError, match="none of its verdicts can be reused") as caught:
        again(old, judged_suite(judge=setting))
    assert caught.value.hint == f"Judge without them: touchstone judge --bundle {NEW}"


def test_another_draw_moves_the_judge_s_seed(tmp_path: Path) -> None:
    outcome, judge, _ = again(judged(tmp_path), draw=1)
    assert (len(judge.requests), outcome.calls) == (3, 3)


def test_a_second_look_is_a_second_look(tmp_path: Path) -> None:
    _, judge, _ = again(judged(tmp_path), extra_pass=1)
    assert len(judge.requests) == 3


def test_what_the_other_run_could_not_judge_is_judged(tmp_path: Path) -> None:
    old = judged(tmp_path, asked=always("no verdict at all", "nor now", verdict_text({"Q1": 4, "Q2": 4})))
    _, judge, kept = again(old)
    assert len(judge.requests) == 1
    assert {verdict.status for verdict in kept.values()} == {"judged"}


def test_checks_are_run_anew(tmp_path: Path) -> None:
    check = {"A1": [Contains(type="contains", value="answer to A1")]}
    suite = judged_suite(checks=check)
    old = judged(tmp_path, suite)
    kept_lines = old.judgements_path.read_text().replace('"status":"pass"', '"status":"fail"')
    old.judgements_path.write_text(kept_lines)
    _, judge, kept = again(old, suite)
    (verdict,) = (verdict for key, verdict in kept.items() if key.prompt == "A1")
    assert not judge.requests
    assert [found.status for found in verdict.checks] == ["pass"]


def test_a_reused_verdict_names_the_run_whose_judge_spoke(tmp_path: Path) -> None:
    again(judged(tmp_path))
    second = Bundle(tmp_path / NEW)
    _, judge, kept = again(second, id=f"{NEW}3")
    assert not judge.requests
    assert {verdict.reused_from for verdict in kept.values()} == {OLD}


def test_reusing_goes_on_after_an_interruption(tmp_path: Path) -> None:
    old = judged(tmp_path)
    new = bundle_of(tmp_path, judged_suite(), id=NEW)
    looks = iter([False, False, True])
    judge_bundle(
        new, honest(), identity=IDENTITY, earlier=earlier_verdicts(new, old), stop=lambda: next(looks, True)
    )
    begun = len(read_verdicts(new.path))
    assert 0 < begun < 3
    outcome = judge_bundle(new, honest(), identity=IDENTITY, earlier=earlier_verdicts(new, old))
    assert (outcome.judged, outcome.open, outcome.calls) == (3, 0, 0)
