"""Is the judge fit to judge? Fixed answers of known worth, judged before any other.

Each item's verdict is one line of the bundle's `calibration.jsonl`. A judge that falls outside a band,
sets a wrong flag, cannot be read, or says the same of good and bad alike is not calibrated: the run stops
before a single answer is scored. It stops as well where the judge's engine refuses the request, which
says nothing about the judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from touchstone.engine.reply import Ask
from touchstone.errors import NotJudgedError
from touchstone.files import JsonlAppender, digest_of, read_jsonl
from touchstone.judge.asking import Asking, driven
from touchstone.judge.opinion import JudgeCalls, NotReached, Opinion, opinion_on
from touchstone.judge.prompt import Brief
from touchstone.judge.records import JudgeIdentity
from touchstone.pack.schema import CalibrationItem
from touchstone.pack.suite import Suite
from touchstone.records import Record

CALIBRATION_NAME = "calibration.jsonl"


class CalibrationVerdict(Record):
    """What the judge said of one item. `item_sha256` covers item, scale and dimensions."""

    item: str
    item_sha256: str
    judge: JudgeIdentity
    scores: dict[str, int] = {}
    red_flag: bool | None = None
    rationale: str | None = None
    status: Literal["judged", "error"]
    reason: str | None = None
    detail: str | None = None
    raw_reply: str | None = None
    seconds: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    calls: int = 0


NONE_YET: Mapping[str, CalibrationVerdict] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Calibration:
    """The items of a suite, whom to ask and how. `seed` is the judge's first."""

    suite: Suite
    identity: JudgeIdentity
    calls: JudgeCalls
    seed: int | None


def calibrate(
    folder: Path, calibration: Calibration, ask: Ask, stop: Callable[[], bool]
) -> Iterator[CalibrationVerdict]:
    """Judge every item that has no fitting verdict yet, keep and yield each new one; end early on `stop`.

    Raises NotJudgedError, naming the item, at the first that shows the judge unfit or was refused by its
    engine.
    """
    fitting = _kept(folder / CALIBRATION_NAME, calibration)
    with JsonlAppender(folder / CALIBRATION_NAME) as lines:
        for verdict in tried(calibration, ask, stop, fitting):
            lines.append(verdict.to_json())
            yield verdict


def tried(
    calibration: Calibration,
    ask: Ask,
    stop: Callable[[], bool] = lambda: False,
    fitting: Mapping[str, CalibrationVerdict] = NONE_YET,
) -> Iterator[CalibrationVerdict]:
    """Judge every item not in `fitting` and yield its verdict, keeping nothing; otherwise as `calibrate`."""
    items, verdicts = calibration.suite.instrument.calibration, dict(fitting)
    for item in items:
        if item.id in verdicts:
            continue
        opinion = driven(_asking(item, calibration), ask)
        if stop():
            return
        verdict = _verdict(item, calibration, opinion)
        yield verdict
        if verdict.reason == "judge_error":
            raise _engine_refused(verdict, calibration.calls)
        _refuse_unfit(item, verdict)
        verdicts[item.id] = verdict
    _refuse_constant(items, verdicts, calibration.suite.instrument.scale)


def unfitness(item: CalibrationItem, verdict: CalibrationVerdict) -> str | None:
    """Why a verdict shows the judge unfit, in words; None if it does not."""
    if verdict.status == "error":
        return f"its verdict cannot be used ({verdict.detail})"
    for dimension, (lowest, highest) in item.expect.items():
        score = verdict.scores[dimension]
        if not lowest <= score <= highest:
            return f"{dimension} is {score}, expected {lowest} to {highest}"
    if item.red_flag is not None and verdict.red_flag != item.red_flag:
        return f"red flag is {str(verdict.red_flag).lower()}, expected {str(item.red_flag).lower()}"
    return None


def _asking(item: CalibrationItem, calibration: Calibration) -> Asking[Opinion | NotReached]:
    brief = _brief(item, calibration.suite)
    return opinion_on(brief, item.answer, calibration.calls, calibration.seed)


def _verdict(
    item: CalibrationItem, calibration: Calibration, opinion: Opinion | NotReached
) -> CalibrationVerdict:
    if isinstance(opinion, NotReached):
        raise NotJudgedError(
            f"the judge {calibration.identity.model} did not answer (calibration item {item.id}): "
            f"{opinion.message}",
            "Start it, then run the same command again; every answer is kept.",
        )
    return CalibrationVerdict(
        item=item.id,
        item_sha256=_item_hash(item, calibration.suite),
        judge=calibration.identity,
        seconds=opinion.seconds,
        prompt_tokens=opinion.prompt_tokens,
        completion_tokens=opinion.completion_tokens,
        calls=opinion.calls,
        raw_reply=opinion.raw_reply,
        **_said(opinion),
    )


def _said(opinion: Opinion) -> dict[str, Any]:
    if opinion.fault:
        return {"status": "error", "reason": opinion.fault.code, "detail": opinion.fault.detail}
    return {
        "status": "judged",
        "scores": opinion.scores,
        "red_flag": opinion.red_flag,
        "rationale": opinion.rationale,
    }


def _brief(item: CalibrationItem, suite: Suite) -> Brief:
    """The item as any other answer would be put to the judge, for the dimensions it has bands for."""
    dimensions = [d for d in suite.instrument.dimensions if d.id in item.expect or not item.expect]
    return Brief(
        prompt=item.prompt,
        dimensions=tuple(dimensions),
        scale=suite.instrument.scale,
    )


def _kept(path: Path, calibration: Calibration) -> dict[str, CalibrationVerdict]:
    """The last verdict of each item as it stands today, by today's judge, where it fits."""
    items = {item.id: item for item in calibration.suite.instrument.calibration}
    kept: dict[str, CalibrationVerdict] = {}
    for _, value in read_jsonl(path):
        verdict = CalibrationVerdict.model_validate(value)
        item = items.get(verdict.item)
        if item is None or verdict.judge != calibration.identity:
            continue
        kept.pop(item.id, None)
        if verdict.item_sha256 == _item_hash(item, calibration.suite) and unfitness(item, verdict) is None:
            kept[item.id] = verdict
    return kept


def _refuse_unfit(item: CalibrationItem, verdict: CalibrationVerdict) -> None:
    reason = unfitness(item, verdict)
    if reason:
        raise _not_calibrated(verdict.judge, f"item {item.id}: {reason}")


def _refuse_constant(
    items: Sequence[CalibrationItem], verdicts: Mapping[str, CalibrationVerdict], scale: Mapping[int, str]
) -> None:
    """One verdict for everything proves nothing where good and bad items stand side by side."""
    middle = (min(scale) + max(scale)) / 2
    worth = {item.id: _expected(item) for item in items if item.expect}
    good = [id_ for id_, expected in worth.items() if expected > middle]
    bad = [id_ for id_, expected in worth.items() if expected < middle]
    if not good or not bad:
        return
    common = set.intersection(*(set(verdict.scores) for verdict in verdicts.values()))
    said = {
        (verdict.red_flag, *(verdict.scores[id_] for id_ in sorted(common))) for verdict in verdicts.values()
    }
    if len(said) == 1:
        judge = next(iter(verdicts.values())).judge
        raise _not_calibrated(judge, f"items {good[0]} and {bad[0]} get the same verdict, as all items do")


def _expected(item: CalibrationItem) -> float:
    return sum(sum(band) / 2 for band in item.expect.values()) / len(item.expect)


def _engine_refused(verdict: CalibrationVerdict, calls: JudgeCalls) -> NotJudgedError:
    hint = "Nothing was scored and every answer is kept. Look at the judge's engine, then run this again."
    if calls.extra_body:
        hint = (
            "Nothing was scored and every answer is kept. Perhaps the engine does not take the hint that "
            "suppresses thinking: set judge.thinking: allow in touchstone.yaml, then start a new run or "
            "score the kept answers with touchstone rejudge RUN."
        )
    return NotJudgedError(
        f"the engine of the judge {verdict.judge.model} refused the request "
        f"(calibration item {verdict.item}): {verdict.detail}",
        hint,
    )


def _not_calibrated(judge: JudgeIdentity, reason: str) -> NotJudgedError:
    return NotJudgedError(
        f"judge is not calibrated: {judge.model}: {reason}",
        "Nothing was scored and every answer is kept. Name a stronger judge (--judge-model MODEL), or "
        "correct the item in the pack.",
    )


def _item_hash(item: CalibrationItem, suite: Suite) -> str:
    dimensions = [dimension.model_dump() for dimension in suite.instrument.dimensions]
    return digest_of([item.model_dump(), dimensions, suite.instrument.scale])
