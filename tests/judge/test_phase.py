"""The judging of a bundle: what is asked, what is kept, when it stops, and how it goes on."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.judge.scenes import (
    BAD,
    GOOD,
    IDENTITY,
    Judge,
    always,
    bundle_of,
    gone,
    honest,
    judged_suite,
    verdict_text,
)
from tests.kit import builders
from touchstone.engine.reply import ChatRequest, Reply
from touchstone.errors import ExitCode, NotJudgedError, RefusedError, TouchstoneError
from touchstone.files import JsonlAppender, read_jsonl
from touchstone.judge.phase import JudgeOutcome, JudgeProgress, judge_bundle, read_verdicts
from touchstone.pack.checks import Contains
from touchstone.run.bundle import Bundle
from touchstone.run.records import SampleKey

FOUR = verdict_text({"Q1": 4, "Q2": 4})


def judge(bundle: Bundle, asked: Judge | None, **options: Any) -> JudgeOutcome:
    identity = options.pop("identity", IDENTITY)
    return judge_bundle(bundle, asked, identity=identity, **options)


def refused(bundle: Bundle, asked: Judge | None, **options: Any) -> TouchstoneError:
    with pytest.raises(TouchstoneError) as caught:
        judge(bundle, asked, **options)
    return caught.value


def lines_of(bundle: Bundle) -> list[dict[str, Any]]:
    """Every kept verdict, in an order of its own."""
    found = [value for _, value in read_jsonl(bundle.judgements_path)]
    return sorted(found, key=lambda value: (value["prompt"], value["repeat"], value["status"]))


def _key(prompt: str) -> SampleKey:
    return SampleKey("m", "none", prompt, 1, 0)


def test_every_answer_gets_its_verdict(tmp_path: Path) -> None:
    bundle = bundle_of(tmp_path, judged_suite(repeats=2))
    outcome = judge(bundle, honest())
    verdicts = read_verdicts(bundle.path)
    assert list(verdicts) == bundle.samples()
    assert [verdict.scores["Q1"] for verdict in verdicts.values()] == [4, 4, 4, 4, 2, 2]
    assert outcome == JudgeOutcome(
        answered=6, judged=6, calls=6, seconds=3.0, prompt_tokens=600, completion_tokens=60
    )


def test_a_second_judging_asks_nothing_and_changes_nothing(tmp_path: Path) -> None:
    bundle = bundle_of(tmp_path, judged_suite(calibration=[GOOD, BAD]))
    judge(bundle, honest())
    before = {path.name: path.read_bytes() for path in bundle.path.iterdir()}
    idle = honest()
    outcome = judge(bundle, idle)
    assert idle.requests == []
    assert (outcome.judged, outcome.open, outcome.calls, outcome.calibrated) == (3, 0, 0, True)
    assert {path.name: path.read_bytes() for path in bundle.path.iterdir()} == before


def test_an_answer_that_is_missing_is_not_judged(tmp_path: Path) -> None:
    bundle = Bundle.create(tmp_path, builders.manifest(judged_suite()))
    assert judge(bundle, always(FOUR)) == JudgeOutcome()


def test_a_new_answer_is_judged_anew(tmp_path: Path) -> None:
    failed = builders.response(_key("A1"), "", status="error")
    bundle = bundle_of(tmp_path, judged_suite(), {"A1": failed})
    assert judge(bundle, honest()).unscored == 1
    with bundle.response_lines() as lines:
        lines.append(builders.response(_key("A1"), "", status="empty").to_json())
    outcome = judge(bundle, honest())
    assert (outcome.judged, outcome.unscored) == (3, 0)
    assert read_verdicts(bundle.path)[_key("A1")].reason == "empty"


def test_an_answer_that_was_changed_is_judged_anew(tmp_path: Path) -> None:
    bundle = bundle_of(tmp_path, judged_suite())
    judge(bundle, honest())
    changed = bundle.responses_path.read_text().replace("answer to A1, 1", "the sum is 7")
    bundle.responses_path.write_text(changed)
    asked = honest()
    judge(bundle, asked)
    assert len(asked.requests) == 1
    assert read_verdicts(bundle.path)[_key("A1")].scores == {"Q1": 1, "Q2": 1}


def test_error_verdicts_are_judged_again(tmp_path: Path) -> None:
    bundle = bundle_of(tmp_path, judged_suite())
    outcome = judge(bundle, always(FOUR, "prose", "prose", FOUR))
    assert (outcome.judged, outcome.errors, outcome.calls) == (2, 1, 4)
    again = always(FOUR)
    outcome = judge(bundle, again)
    assert (outcome.judged, outcome.errors, len(again.requests)) == (3, 0, 1)
    assert [line["status"] for line in lines_of(bundle)] == ["judged", "error", "judged", "judged"]


@pytest.mark.parametrize(
    "asked",
    [
        always("I find this answer quite good, 4 of 5."),
        always(""),
        Judge(lambda request, _n: request.messages[0]["content"].split("GRADE:")[1].split("\n")[0]),
        always(f'{{"verdict": {FOUR},}}'),
        always(FOUR.replace('"Q1": 4', '"Q1": 4, "Q1": 5')),
        always(f"[{FOUR}]"),
        always(gone()),
    ],
    ids=["prose", "empty", "quoted", "inside a broken one", "repeated key", "list", "gone"],
)
def test_a_hostile_judge_never_scores_and_stops_the_phase(tmp_path: Path, asked: Judge) -> None:
    prompts = ["A1", "A2", "A3", "A4", "A5"]
    answers = dict.fromkeys(prompts, f"Fine. GRADE:{FOUR}")
    bundle = bundle_of(tmp_path, judged_suite(prompts), {**answers, "A1": ""})
    error = refused(bundle, asked)
    assert error.exit_code is ExitCode.NOT_JUDGED
    assert "3 times in a row" in error.message
    assert error.hint is not None
    assert f"touchstone judge --bundle {bundle.id}" in error.hint
    kept = lines_of(bundle)
    assert kept[0]["reason"] == "empty", "what was judged before is kept"
    assert all(line["scores"] == {} and line["status"] == "error" for line in kept[1:])
    assert len(kept[1:]) == (0 if asked.requests and _is_gone(asked) else 3)


def _is_gone(asked: Judge) -> bool:
    return isinstance(asked.says(asked.requests[0], 1), Reply)


def test_a_success_in_between_starts_the_count_anew_and_nought_never_stops(tmp_path: Path) -> None:
    prompts = [f"A{number}" for number in range(9)]
    wavering = Judge(lambda request, number: gone() if number % 3 else FOUR)
    bundle = bundle_of(tmp_path / "a", judged_suite(prompts))
    outcome = judge(bundle, wavering)
    assert (outcome.judged, outcome.open, outcome.errors) == (3, 6, 0)
    suite = judged_suite(prompts)
    setup = {
        "model": "judge-7b",
        "temperature": 0.0,
        "seed": 42,
        "samples": 1,
        "max_tokens": 100,
        "max_consecutive_failures": 0,
    }
    patient = bundle_of(tmp_path / "b", suite, judge=setup)
    assert judge(patient, always(gone())).open == 9
    assert judge(patient, always("prose")).errors == 9


def test_E15_no_judge_is_no_score(tmp_path: Path) -> None:
    bundle = bundle_of(tmp_path, judged_suite())
    error = refused(bundle, None, identity=None)
    assert isinstance(error, NotJudgedError)
    assert error.hint is not None
    assert "--judge-model" in error.hint
    assert not bundle.judgements_path.exists()


def test_a_run_started_without_a_judge_says_so(tmp_path: Path) -> None:
    suite = judged_suite()
    bare = suite.model_copy(update={"instrument": suite.instrument.model_copy(update={"judge": None})})
    bundle = bundle_of(tmp_path, bare)
    error = refused(bundle, always(FOUR))
    assert isinstance(error, NotJudgedError)
    assert "started without a judge" in error.message
    assert error.hint is not None
    assert f"touchstone rejudge {bundle.id}" in error.hint


@pytest.mark.parametrize(
    ("instrument", "named"),
    [
        ({"model": "judge-70b"}, "model: judge-70b → judge-7b"),
        ({"prompt_sha256": "sha256:0"}, "prompt: 1 sha256:0 → 1 sha256:"),
        ({"version": "b1"}, "version: b1 → n/a"),
    ],
)
def test_another_judge_than_the_runs_is_refused(
    tmp_path: Path, instrument: dict[str, Any], named: str
) -> None:
    bundle = bundle_of(tmp_path, judged_suite(judge=instrument))
    error = refused(bundle, always(FOUR))
    assert isinstance(error, RefusedError)
    assert named in error.message
    assert not bundle.judgements_path.exists()


def test_a_pack_of_checks_needs_no_judge(tmp_path: Path) -> None:
    suite = builders.checks_suite(["A1", "A2"])
    bundle = bundle_of(tmp_path, suite, {"A1": "yes", "A2": "no"})
    outcome = judge(bundle, None, identity=None)
    assert (outcome.judged, outcome.calls, outcome.calibrated) == (2, 0, None)
    assert [v.checks[0].status for v in read_verdicts(bundle.path).values()] == ["pass", "fail"]


def test_a_prompt_without_dimensions_in_a_judged_pack_asks_no_judge(tmp_path: Path) -> None:
    checks = {"A2": [Contains(type="contains", value="A2")]}
    bundle = bundle_of(tmp_path, judged_suite(["A1", "A2"], asked={"A2": []}, checks=checks))
    asked = always(FOUR)
    judge(bundle, asked)
    assert len(asked.requests) == 1
    assert read_verdicts(bundle.path)[_key("A2")].judge is None
    assert judge(bundle, asked).open == 0
    assert len(asked.requests) == 1


class TestCalibration:
    def test_items_are_judged_first_and_kept(self, tmp_path: Path) -> None:
        asked = honest()
        bundle = bundle_of(tmp_path, judged_suite(calibration=[GOOD, BAD]))
        outcome = judge(bundle, asked)
        assert (outcome.calibrated, outcome.calls, outcome.judged) == (True, 5, 3)
        assert ["sum is 4" in asked.prompts[0], "sum is 7" in asked.prompts[1]] == [True, True]
        kept = [value for _, value in read_jsonl(bundle.path / "calibration.jsonl")]
        assert [(item["item"], item["scores"]) for item in kept] == [
            ("cal-good", {"Q1": 4}),
            ("cal-bad", {"Q1": 1}),
        ]

    @pytest.mark.parametrize(
        ("asked", "named"),
        [
            (always(verdict_text({"Q1": 3})), "item cal-good: Q1 is 3, expected 4 to 5"),
            (always(verdict_text({"Q1": 5})), "item cal-bad: Q1 is 5, expected 1 to 2"),
            (always(verdict_text({"Q1": 5}, red_flag=True)), "cal-good: red flag is true, expected false"),
            (always("prose"), "item cal-good: its verdict cannot be used (there is no verdict"),
        ],
    )
    def test_a_judge_outside_a_band_is_not_calibrated_and_judges_nothing(
        self, tmp_path: Path, asked: Judge, named: str
    ) -> None:
        bundle = bundle_of(tmp_path, judged_suite(calibration=[GOOD, BAD]))
        error = refused(bundle, asked)
        assert error.exit_code is ExitCode.NOT_JUDGED
        assert error.message.startswith("judge is not calibrated")
        assert named in error.message
        assert not bundle.judgements_path.exists()
        assert len(bundle.responses()) == 3

    def test_one_verdict_for_everything_is_not_calibrated_even_inside_the_bands(self, tmp_path: Path) -> None:
        items = [
            GOOD.model_copy(update={"expect": {"Q1": [3, 5]}}),
            BAD.model_copy(update={"expect": {"Q1": [1, 3]}}),
        ]
        bundle = bundle_of(tmp_path, judged_suite(calibration=items))
        error = refused(bundle, always(verdict_text({"Q1": 3})))
        assert "cal-good and cal-bad get the same verdict" in error.message
        assert not bundle.judgements_path.exists()
        only_good = bundle_of(tmp_path / "b", judged_suite(calibration=items[:1]))
        asked = Judge(lambda _request, number: verdict_text({"Q1": 3}) if number == 1 else FOUR)
        assert judge(only_good, asked).calibrated is True

    def test_a_judge_that_is_gone_is_not_called_uncalibrated(self, tmp_path: Path) -> None:
        bundle = bundle_of(tmp_path, judged_suite(calibration=[GOOD, BAD]))
        error = refused(bundle, always(verdict_text({"Q1": 4}), gone()))
        assert "did not answer (calibration item cal-bad)" in error.message
        asked = honest()
        assert judge(bundle, asked).calibrated is True
        assert "sum is 7" in asked.prompts[0], "the first item is not judged again"

    @pytest.mark.parametrize("thinking", ["off", None])
    def test_a_refused_request_is_told_as_such_and_not_as_an_uncalibrated_judge(
        self, tmp_path: Path, thinking: str | None
    ) -> None:
        suite = judged_suite(calibration=[GOOD, BAD], judge={"thinking": thinking})
        bundle = bundle_of(tmp_path, suite)
        said = "HTTP 400: chat_template_kwargs is not supported"
        asked = always(Reply(status="error", text="", error_class="http", error_message=said))
        error = refused(bundle, asked)
        assert isinstance(error, NotJudgedError)
        assert error.exit_code is ExitCode.NOT_JUDGED
        assert "refused the request (calibration item cal-good)" in error.message
        assert said in error.message
        assert "calibrated" not in error.message
        assert "stronger" not in (error.hint or "")
        assert ("judge.thinking: allow" in (error.hint or "")) == (thinking == "off")
        assert len(asked.requests) == 1
        assert not bundle.judgements_path.exists()
        assert judge(bundle, honest()).calibrated is True

    def test_an_item_that_failed_is_judged_again_and_a_changed_one_too(self, tmp_path: Path) -> None:
        bundle = bundle_of(tmp_path, judged_suite(calibration=[GOOD]))
        refused(bundle, always(verdict_text({"Q1": 1})))
        asked = honest()
        assert judge(bundle, asked).calibrated is True
        assert len(asked.requests) == 4

    def test_it_costs_calls_seconds_and_tokens(self, tmp_path: Path) -> None:
        told: list[JudgeProgress] = []
        bundle = bundle_of(tmp_path, judged_suite(["A1"], calibration=[GOOD, BAD]))
        outcome = judge(bundle, honest(), progress=told.append)
        assert (outcome.calls, outcome.seconds, outcome.prompt_tokens) == (3, 1.5, 300)
        assert [event.calibration.item if event.calibration else None for event in told] == [
            "cal-good",
            "cal-bad",
            None,
        ]
        assert [event.done for event in told] == [0, 0, 1]

    def test_told_to_stop_it_stops_quietly(self, tmp_path: Path) -> None:
        bundle = bundle_of(tmp_path, judged_suite(calibration=[GOOD, BAD]))
        asked = always(gone("interrupted"))
        outcome = judge(bundle, asked, stop=lambda: len(asked.requests) > 0)
        assert (outcome.stopped, outcome.calibrated, outcome.open) == (True, None, 3)


def test_progress_counts_answers_errors_calls_and_time(tmp_path: Path) -> None:
    bundle = bundle_of(tmp_path, judged_suite())
    told: list[JudgeProgress] = []
    ticks = iter(range(10))
    judge(bundle, always(FOUR, "x", "x", FOUR), progress=told.append, clock=lambda: float(next(ticks)))
    assert [(e.done, e.planned, e.errors, e.calls, e.elapsed_s) for e in told] == [
        (1, 3, 0, 1, 1.0),
        (2, 3, 1, 3, 2.0),
        (3, 3, 1, 4, 3.0),
    ]
    assert [event.verdict.prompt for event in told if event.verdict] == ["A1", "A2", "A3"]


@pytest.mark.parametrize("concurrency", [1, 4])
def test_told_to_stop_it_drops_the_answer_under_way_and_goes_on_later(
    tmp_path: Path, concurrency: int
) -> None:
    prompts = [f"A{number}" for number in range(12)]
    bundle = bundle_of(tmp_path, judged_suite(prompts))
    asked = honest()
    outcome = judge(bundle, asked, stop=lambda: len(asked.requests) >= 4, concurrency=concurrency)
    assert outcome.stopped
    assert outcome.judged < 4
    rest = honest()
    outcome = judge(bundle, rest, concurrency=concurrency)
    assert (outcome.judged, outcome.stopped) == (12, False)
    assert len(lines_of(bundle)) == 12


def test_many_at_once_give_what_one_after_another_gives(tmp_path: Path) -> None:
    suite = judged_suite([f"A{number}" for number in range(20)], repeats=2)
    one, many = bundle_of(tmp_path / "1", suite), bundle_of(tmp_path / "8", suite)
    in_flight, most, lock = 0, 0, threading.Lock()
    everyone = threading.Event()

    def says(request: ChatRequest, _number: int) -> str:
        nonlocal in_flight, most
        with lock:
            in_flight += 1
            most = max(most, in_flight)
            if in_flight == 8:
                everyone.set()
        everyone.wait(5)
        with lock:
            in_flight -= 1
        said = honest().says(request, 1)
        assert isinstance(said, str)
        return said

    judge(one, honest())
    judge(many, Judge(says), concurrency=8)
    assert most == 8
    assert lines_of(many) == lines_of(one)


def test_an_extra_pass_judges_everything_once_more_with_other_seeds(tmp_path: Path) -> None:
    bundle = bundle_of(tmp_path, judged_suite(calibration=[GOOD, BAD]))
    judge(bundle, honest())
    asked = honest()
    outcome = judge(bundle, asked, extra_pass=2)
    assert (outcome.judged, asked.seeds) == (3, [242, 242, 242])
    assert {verdict.pass_ for verdict in read_verdicts(bundle.path, 2).values()} == {2}
    assert {verdict.pass_ for verdict in read_verdicts(bundle.path).values()} == {0}


def test_some_samples_alone_can_be_judged_extra_draws_included(tmp_path: Path) -> None:
    bundle = bundle_of(tmp_path, judged_suite())
    extra = _key("A2")._replace(draw=11)
    with bundle.response_lines() as lines:
        lines.append(builders.response(extra, "once more").to_json())
    asked = honest()
    outcome = judge(bundle, asked, keys=[extra])
    assert (outcome.answered, outcome.judged, asked.seeds) == (1, 1, [11042])
    assert list(read_verdicts(bundle.path)) == [extra]


def test_resuming_at_any_cut_of_the_file_gives_what_an_uninterrupted_run_gives(tmp_path: Path) -> None:
    suite = judged_suite(["A1", "A2", "A3"], checks={"A1": [Contains(type="contains", value="A1")]})
    whole = bundle_of(tmp_path / "whole", suite)
    judge(whole, honest())
    data = whole.judgements_path.read_bytes()
    for cut in range(0, len(data), 29):
        bundle = bundle_of(tmp_path / f"cut-{cut}", suite)
        bundle.judgements_path.write_bytes(data[:cut])
        asked = honest()
        judge(bundle, asked)
        assert lines_of(bundle) == lines_of(whole)
        complete = data[:cut].count(b"\n") + (data[cut - 1 : cut] == b"}" and data[cut : cut + 1] == b"\n")
        assert len(asked.requests) == 3 - complete


@pytest.mark.parametrize("calls", [1, 2, 4, 6])
def test_killed_at_any_call_nothing_judged_is_lost(tmp_path: Path, calls: int) -> None:
    suite = judged_suite([f"A{number}" for number in range(5)], calibration=[GOOD, BAD])
    whole, killed = bundle_of(tmp_path / "whole", suite), bundle_of(tmp_path / "killed", suite)
    judge(whole, honest())
    dying = subprocess.run(
        [sys.executable, "-m", "tests.judge.killed_judge", str(killed.path), str(calls)], check=False
    )
    assert dying.returncode == -9
    asked = honest()
    outcome = judge(killed, asked)
    assert (outcome.judged, len(asked.requests)) == (5, 7 - (calls - 1))
    assert lines_of(killed) == lines_of(whole)


def test_a_torn_calibration_line_is_judged_again(tmp_path: Path) -> None:
    bundle = bundle_of(tmp_path, judged_suite(calibration=[GOOD, BAD]))
    judge(bundle, honest())
    path = bundle.path / "calibration.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    asked = honest()
    assert judge(bundle, asked).calibrated is True
    assert len(asked.requests) == 1


def test_nothing_but_the_two_files_is_written(tmp_path: Path) -> None:
    bundle = bundle_of(tmp_path, judged_suite(calibration=[GOOD, BAD]))
    before = {path.name for path in bundle.path.iterdir()}
    judge(bundle, honest())
    assert {path.name for path in bundle.path.iterdir()} - before == {"judgements.jsonl", "calibration.jsonl"}


def test_two_good_verdicts_in_a_bundle_stop_the_phase(tmp_path: Path) -> None:
    bundle = bundle_of(tmp_path, judged_suite())
    judge(bundle, honest())
    with JsonlAppender(bundle.judgements_path) as lines:
        lines.append(lines_of(bundle)[0])
    assert "second verdict" in refused(bundle, honest()).message


def test_thinking_is_suppressed_where_the_instrument_says_so(tmp_path: Path) -> None:
    for thinking, sent in (("off", {"chat_template_kwargs": {"enable_thinking": False}}), (None, {})):
        bundle = bundle_of(tmp_path / str(thinking), judged_suite(["A1"], judge={"thinking": thinking}))
        asked = honest()
        judge(bundle, asked)
        assert asked.requests[0].extra_body == sent
