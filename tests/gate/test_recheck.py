"""Checks held against the answers they are said of: numbers that fit each other are not enough."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.kit import builders
from tests.kit.builders import Outcome, Repeats, Table
from touchstone.baseline import store
from touchstone.baseline.schema import Baseline
from touchstone.baseline.store import MeasuredRun
from touchstone.errors import BadInputError
from touchstone.gate.recheck import contradictions, kept_contradictions, listed, require_true
from touchstone.pack.checks import Contains, Latency, Regex, Tokens
from touchstone.pack.suite import Suite
from touchstone.result.build import build_result_doc

SUITE = builders.checks_suite(
    ("A1", "A2"),
    checks={
        "A1": [Contains(type="contains", value="yes", id="says")],
        "A2": [Contains(type="contains", value="yes", id="says"), Tokens(type="tokens", max=3, id="short")],
    },
    repeats={"A2": 2},
)
TRUE: Table = {
    "A1": Outcome(text="yes it is", checks=1.0),
    "A2": Repeats(
        [
            Outcome(text="yes", checks=1.0),
            Outcome(text="no I do not know", checks={"says": 0.0, "short": 0.0}),
        ]
    ),
}
FORGED: Table = {**TRUE, "A1": Outcome(text="I do not know", checks=1.0)}


def run(table: Table, suite: Suite = SUITE, draw: int = 0) -> MeasuredRun:
    asked = builders.manifest(suite, draw=draw, id=f"run-{draw}")
    given = builders.responses(asked, table)
    said = builders.verdicts(asked, table, given)
    return MeasuredRun(asked, build_result_doc(asked, given, said, judged="2026-05-04T09:00:00Z"), given)


def baseline(table: Table, suite: Suite = SUITE, *, with_answers: bool = True) -> Baseline:
    """A promotion of three runs; it verifies itself, whatever the table says."""
    made = store.baseline_from(
        [run(table, suite, draw) for draw in range(3)],
        1,
        reason=None,
        replaces=None,
        with_answers=with_answers,
    )
    return store.parse(store.dump(made), "baselines/default/pack.json")


def test_what_was_measured_is_as_it_says() -> None:
    assert contradictions(run(TRUE)) == []
    assert kept_contradictions(baseline(TRUE)) == []


def test_a_check_that_passes_an_answer_it_fails_is_named() -> None:
    said = "says is 1 in the file, and the answer gives 0"
    assert contradictions(run(FORGED)) == [f"m · none · A1: {said}"]
    found = kept_contradictions(baseline(FORGED))
    assert found == [f"m · none · A1: {said}"] * 3, "every run's answer is the one that is kept"
    with pytest.raises(BadInputError, match="its checks are not what its answers give: m · none · A1"):
        require_true(baseline(FORGED), "baselines/default/pack.json")


def test_every_repeat_and_every_check_is_looked_at() -> None:
    hidden = Repeats([Outcome(text="yes"), Outcome(text="no I do not know", checks={"says": 0, "short": 1})])
    assert contradictions(run({**TRUE, "A2": hidden})) == [
        "m · none · A2 (repeat 2): short is 1 in the file, and the answer gives 0"
    ]


def test_a_check_that_was_left_out_is_named() -> None:
    whole = run(TRUE)
    first, *others = whole.result.rows
    repeats = [repeat.replaced(checks={}) for repeat in first.repeats]
    bare = [first.replaced(repeats=repeats), *others]
    edited = replace(whole, result=whole.result.model_copy(update={"rows": bare}))
    assert contradictions(edited) == ["m · none · A1: says is nothing in the file, and the answer gives 1"]


def test_a_class_that_the_answer_does_not_name_is_told() -> None:
    suite = builders.labelled_suite({"A1": "relevant"})
    forged: Table = {"A1": Outcome(text="other", label="relevant")}
    assert contradictions(run(forged, suite)) == [
        "m · none · A1: label is 1 in the file, and the answer gives 0",
        "m · none · A1: label (class) is relevant in the file, and the answer gives other",
    ]
    assert len(kept_contradictions(baseline(forged, suite))) == 3
    true: Table = {"A1": Outcome(text="other", label="other")}
    assert contradictions(run(true, suite)) == kept_contradictions(baseline(true, suite)) == []


def test_checks_of_the_machine_and_answers_that_are_not_kept_are_not_held_against_it() -> None:
    suite = builders.checks_suite(
        ("A1",),
        checks={"A1": [Regex(type="regex", pattern="yes"), Latency(type="latency", e2e_max_s=0.001)]},
    )
    assert contradictions(run({"A1": Outcome(text="yes")}, suite)) == []
    assert kept_contradictions(baseline(FORGED, with_answers=False)) == []


def test_many_are_counted() -> None:
    assert listed([str(number) for number in range(7)]) == "0; 1; 2; 3; 4; and 2 more"
