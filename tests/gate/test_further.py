"""The rounds of a confirm step: which draws and passes they are given, and what is kept of them."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from tests.kit import builders
from touchstone.baseline.evidence import Measure
from touchstone.errors import BadInputError, ExitCode
from touchstone.gate.check import WORST_FIRST, worst_exit
from touchstone.gate.further import (
    CONFIRM_NAME,
    ConfirmPlan,
    Round,
    next_round,
    read_confirm_plan,
    write_confirm_plan,
)
from touchstone.run.bundle import Bundle
from touchstone.run.records import Manifest


def manifest(draw: int = 10) -> Manifest:
    suite = builders.judged_suite(("A1", "A2"), repeats={"A2": 2})
    return builders.manifest(suite, ("m", "n"), draw=draw)


def ask(prompt: str, times: int, model: str = "m") -> Measure:
    return Measure("ask", model, "none", prompt, None, times)


def judge(prompt: str, times: int, repeat: int = 1) -> Measure:
    return Measure("judge", "m", "none", prompt, repeat, times)


def test_draws_follow_the_planned_one_and_every_repeat_is_asked() -> None:
    found = next_round([ask("A2", 2)], manifest(), [])
    assert found.asked == [("m", "none", "A2", repeat, draw) for draw in (11, 12) for repeat in (1, 2)]


def test_models_come_one_after_another() -> None:
    found = next_round([ask("A1", 2, "n"), ask("A1", 1, "m")], manifest(), [])
    assert [(key[0], key[4]) for key in found.asked] == [("m", 11), ("n", 11), ("n", 12)]


def test_a_later_round_takes_the_next_draws_and_passes() -> None:
    first = next_round([ask("A1", 2), judge("A2", 4, 2)], manifest(), [])
    later = next_round([ask("A1", 3), ask("A2", 1), judge("A2", 1, 2), judge("A1", 1)], manifest(), [first])
    assert [key[2:] for key in later.asked if key[2] == "A1"] == [("A1", 1, draw) for draw in (13, 14, 15)]
    assert {key[4] for key in later.asked if key[2] == "A2"} == {11}
    assert first.judged == [("m", "none", "A2", 2, pass_) for pass_ in (1, 2, 3, 4)]
    assert later.judged == [("m", "none", "A2", 2, 5), ("m", "none", "A1", 1, 1)]


@pytest.mark.parametrize(("draw", "first"), [(0, 11), (10, 11), (20, 21)])
def test_no_draw_of_a_promotion_is_ever_taken(draw: int, first: int) -> None:
    assert next_round([ask("A1", 1)], manifest(draw), []).asked[0][4] == first


def test_a_plan_is_kept_for_its_reference_alone(tmp_path: Path) -> None:
    bundle = Bundle.create(tmp_path, manifest())
    kept = ConfirmPlan(run=bundle.id, reference="sha256:a", rounds=[])
    kept = kept.followed_by(Round(asked=[("m", "none", "A1", 1, 11)], judged=[]))
    write_confirm_plan(bundle, kept)
    assert read_confirm_plan(bundle, "sha256:a") == kept
    assert read_confirm_plan(bundle, "sha256:b").rounds == []
    (bundle.path / CONFIRM_NAME).write_text('{"rounds": 7}\n')
    with pytest.raises(BadInputError, match="not a confirm plan"):
        read_confirm_plan(bundle, "sha256:a")


def test_the_worst_exit_speaks_for_all() -> None:
    assert [int(code) for code in WORST_FIRST] == [1, 4, 2, 3, 0]
    for one, other in permutations(WORST_FIRST, 2):
        worse = min(one, other, key=WORST_FIRST.index)
        assert worst_exit([one, other]) == worse
    assert worst_exit([]) == ExitCode.NOTHING_WORSE
