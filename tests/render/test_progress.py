"""What is told while a run goes on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit.builders import response
from touchstone.gate.bench import Confirming, Controlling, Planned, Step
from touchstone.judge.outcome import JudgeProgress
from touchstone.render.progress import (
    answered_note,
    judged_note,
    loading_judge_line,
    loading_line,
    step_line,
    time_left,
)
from touchstone.render.words import Words
from touchstone.run.records import SampleKey
from touchstone.run.runner import EvalProgress

EN, DE = Words("en"), Words("de")


def answered(done: int, errors: int, model: str = "m") -> EvalProgress:
    return EvalProgress(done, 12, errors, response(SampleKey(model, "none", "A1", 1, 0), "Yes."))


def judged(**fields: Any) -> JudgeProgress:
    usual: dict[str, Any] = {"done": 9, "planned": 12, "errors": 0, "calls": 9, "elapsed_s": None}
    return JudgeProgress(**(usual | fields))


def test_an_answer_tells_what_is_ok_and_what_failed() -> None:
    assert answered_note(answered(9, 2), EN) == "7 ok · 2 error · m"
    assert answered_note(answered(9, 0), DE) == "9 ok · 0 Fehler · m"


def test_a_long_or_hostile_name_stays_short_and_visible() -> None:
    assert answered_note(answered(1, 0, "x" * 80), EN) == f"1 ok · 0 error · {'x' * 23}…"
    assert "\x1b" not in answered_note(answered(1, 0, "\x1b[2J"), EN)


def test_a_verdict_that_there_is_none_is_not_counted_as_one() -> None:
    assert judged_note(judged(errors=2, unscored=1), EN) == "6 judged · 2 error · 1 unscored"
    assert judged_note(judged(), DE) == "9 bewertet · 0 Fehler"


def test_loads_are_told_with_their_number() -> None:
    assert loading_line("m", 2, 3, EN) == "loading m (model 2 of 3)"
    assert loading_judge_line("j", DE) == "lädt den Judge j"


@pytest.mark.parametrize(
    ("seconds", "told"), [(4.4, "about 4 s left"), (89, "about 89 s left"), (600, "about 10 min left")]
)
def test_the_time_left_is_rounded_to_what_can_be_known(seconds: float, told: str) -> None:
    assert time_left(seconds, EN) == told


STEPS = [
    (Planned("R", 53, more=True), "R: 53 calls, more only to confirm what is suspect",
     "R: 53 Aufrufe, weitere nur, um Verdächtiges zu bestätigen"),
    (Planned("R", 1, more=False), "R: 1 call", "R: 1 Aufruf"),
    (Controlling("R", 20, 40), "R: today's judge sees 20 stored answers again (40 calls)",
     "R: der heutige Judge sieht 20 gespeicherte Antworten erneut (40 Aufrufe)"),
    (Confirming("R", rows=4, answers=8, judged=1, judgements=2, calls=18, seconds=120),
     ("R: to confirm what is suspect, 4 rows asked again (8 answers) and 1 answer judged again "
     "(2 judgements): 18 more calls, about 2 min"),
     ("R: um Verdächtiges zu bestätigen, 4 Zeilen erneut gefragt (8 Antworten) und 1 Antwort erneut bewertet "
     "(2 Urteile): 18 weitere Aufrufe, etwa 2 min")),
    (Confirming("R", rows=0, answers=0, judged=2, judgements=2, calls=1, seconds=None),
     "R: to confirm what is suspect, 2 answers judged again (2 judgements): 1 more call",
     "R: um Verdächtiges zu bestätigen, 2 Antworten erneut bewertet (2 Urteile): 1 weiterer Aufruf"),
]  # fmt: skip


@pytest.mark.parametrize(("step", "english", "german"), STEPS)
def test_what_a_check_is_about_to_do_is_said_in_the_readers_language(
    step: Step, english: str, german: str
) -> None:
    assert step_line(step, Words("en")) == english
    assert step_line(step, Words("de")) == german
