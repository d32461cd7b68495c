"""The judging: answers without a verdict in, one line of `judgements.jsonl` per verdict out.

Everything comes from the bundle's frozen manifest and its answers; only the judge is asked. What was
judged until an interruption is kept, and the same call goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from touchstone.engine.reply import Ask, ChatRequest, Reply
from touchstone.errors import NotJudgedError, RefusedError
from touchstone.files import JsonlAppender
from touchstone.judge.answers import EarlierVerdicts, Given, Judgement, Judging, judgement_on, unscored
from touchstone.judge.asking import answered
from touchstone.judge.calibration import Calibration, calibrate
from touchstone.judge.opinion import THINKING_OFF, JudgeCalls
from touchstone.judge.outcome import JudgeOutcome, JudgeProgress, Tally
from touchstone.judge.prompt import prompt_sha256
from touchstone.judge.records import JudgeIdentity, Verdict, VerdictStatus
from touchstone.judge.verdicts import read_verdicts
from touchstone.pack.suite import JudgeInstrument
from touchstone.run.bundle import Bundle
from touchstone.run.records import Manifest, Outline, SampleKey

__all__ = ["JudgeOutcome", "JudgeProgress", "judge_bundle", "read_verdicts"]


def judge_bundle(
    bundle: Bundle,
    ask: Ask | None,
    *,
    identity: JudgeIdentity | None,
    progress: Callable[[JudgeProgress], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] | None = None,
    use_schema: bool = False,
    extra_pass: int = 0,
    concurrency: int = 1,
    keys: Collection[SampleKey] | None = None,
    go_on: str = "touchstone judge --bundle",
    earlier: EarlierVerdicts | None = None,
) -> JudgeOutcome:
    """Judge every answer of a bundle that has no verdict by today's judge, `concurrency` at a time.

    `extra_pass` 1, 2, … judges the same answers once more with other judge seeds; `keys` narrows it to
    some samples, extra draws included (default: the planned ones). `earlier` verdicts of another run stand
    for new ones where they fit. Checks run in the calling thread, which must be the main one. Returns
    early, with `stopped`, when `stop` says so.

    Raises NotJudgedError when a judge is needed and none is named, when it is not calibrated, and when it
    fails `max_consecutive_failures` times in a row (0: never); RefusedError when it is not the run's judge.
    """
    answers = _answers(bundle, keys)
    judging = _judging(bundle.manifest, answers, identity if ask else None, use_schema)
    judging = replace(judging, pass_=extra_pass, earlier=earlier)
    done = _done(answers, read_verdicts(bundle.path, extra_pass), judging)
    tally = Tally(len(answers), progress, clock, done.values())
    calibrated = _calibrated(bundle, judging, ask, tally, stop)
    opened = answers.keys() - done.keys()
    askings = (judgement_on(judging, Given.of(answer)) for answer in bundle.responses_to(opened))
    with JsonlAppender(bundle.judgements_path) as lines:
        for judgement in answered(askings, ask or _no_judge, concurrency, stop):
            if judgement.verdict:
                lines.append(judgement.verdict.to_json())
            tally.take(judgement)
            _refuse_a_failing_judge(bundle, tally, judgement, go_on)
    return replace(tally.outcome, calibrated=calibrated, stopped=stop())


def _answers(bundle: Bundle, keys: Collection[SampleKey] | None) -> dict[SampleKey, Outline]:
    outlines = bundle.outlines()
    return {key: outlines[key] for key in (bundle.samples() if keys is None else keys) if key in outlines}


def _judging(
    manifest: Manifest, answers: Collection[SampleKey], identity: JudgeIdentity | None, use_schema: bool
) -> Judging:
    suite = manifest.suite
    if not any(suite.cases[key.prompt].rubric.dimensions for key in answers):
        return Judging(suite)
    setup, instrument = manifest.judge, suite.instrument.judge
    if setup is None or instrument is None:
        raise NotJudgedError(
            f"pack {suite.pack_id} has dimensions, and this run was started without a judge",
            "Name one (--judge-model MODEL, or judge.model in touchstone.yaml) and start a new run, or "
            f"judge these answers as they are: touchstone rejudge {manifest.id}",
        )
    if identity is None:
        raise NotJudgedError(
            f"pack {suite.pack_id} has dimensions, and no judge is named to score them",
            "Name one: --judge-model MODEL, or judge.model in touchstone.yaml",
        )
    _refuse_another_judge(manifest.id, instrument, identity)
    thinking = THINKING_OFF if instrument.thinking == "off" else {}
    return Judging(suite, identity, JudgeCalls(setup, use_schema, thinking))


def _refuse_another_judge(run: str, was: JudgeInstrument, identity: JudgeIdentity) -> None:
    """The bundle's instrument names its judge; verdicts of another one would not be what it says."""
    today = f"{identity.prompt_version} {prompt_sha256()}"
    moved = [
        f"{name}: {old or 'n/a'} → {new or 'n/a'}"
        for name, old, new in (
            ("model", was.model, identity.model),
            ("version", was.version, identity.version if was.version else None),
            ("prompt", f"{was.prompt_version} {was.prompt_sha256}", today),
        )
        if old != new
    ]
    if moved:
        raise RefusedError(
            f"the judge is not the one this run was started with: {', '.join(moved)}",
            f"Score its answers by today's judge instead: touchstone rejudge {run}",
        )


def _done(
    answers: Mapping[SampleKey, Outline], kept: Mapping[SampleKey, Verdict], judging: Judging
) -> dict[SampleKey, VerdictStatus]:
    """The samples that need no judging any more, and how that ended."""
    return {
        key: kept[key].status
        for key, answer in answers.items()
        if key in kept and _is_done(kept[key], answer, judging)
    }


def _is_done(kept: Verdict, answer: Outline, judging: Judging) -> bool:
    if kept.status == "error":
        return False
    reason = kept.reason if kept.status == "unscored" else None
    wanted = (answer.text_sha256, judging.judge_of(answer.prompt), unscored(answer.status))
    return (kept.answer_sha256, kept.judge, reason) == wanted


def _calibrated(
    bundle: Bundle, judging: Judging, ask: Ask | None, tally: Tally, stop: Callable[[], bool]
) -> bool | None:
    """True once every item fits, None where there is none; a judge that does not fit ends the phase."""
    items = judging.suite.instrument.calibration
    if judging.calls is None or judging.identity is None or ask is None or not items:
        return None
    seed = judging.calls.seed(0, bundle.manifest.draw)
    calibration = Calibration(judging.suite, judging.identity, judging.calls, seed)
    for verdict in calibrate(bundle.path, calibration, ask, stop):
        tally.take_calibration(verdict)
    return None if stop() else True


def _refuse_a_failing_judge(bundle: Bundle, tally: Tally, judgement: Judgement, go_on: str) -> None:
    setup = bundle.manifest.judge
    if setup and 0 < setup.max_consecutive_failures <= tally.failures_in_a_row:
        raise NotJudgedError(
            f"the judge {setup.model} failed {tally.failures_in_a_row} times in a row; "
            f"the last time: {judgement.failure}",
            f"Every verdict so far is kept. Put it right, then go on: {go_on} {bundle.id}",
        )


def _no_judge(_request: ChatRequest) -> Reply:
    raise AssertionError("a pack without dimensions asks no judge")
