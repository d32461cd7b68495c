"""The control: the baseline's stored answers under today's judge, before "worse" is said from scores.

If the judge scores the very same answers lower, the answers did not get worse. `control.jsonl` in the
run's folder keeps a verdict per stored answer, under the baseline's names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from touchstone.baseline.sides import RowKey, Side
from touchstone.engine.reply import Ask
from touchstone.errors import BadInputError
from touchstone.files import JsonlAppender, read_jsonl, sha256_of
from touchstone.judge.answers import Given, Judging, judgement_on
from touchstone.judge.asking import answered
from touchstone.judge.checks import Answer
from touchstone.judge.opinion import THINKING_OFF, JudgeCalls
from touchstone.judge.records import JudgeIdentity, Verdict
from touchstone.judge.verdicts import Judges, verdict_from
from touchstone.result.schema import Repeat, Row
from touchstone.result.scorecard import score_rows
from touchstone.run.bundle import Bundle
from touchstone.run.records import SampleKey

CONTROL_NAME = "control.jsonl"


@dataclass(frozen=True)
class Judge:
    """Today's judge, ready to be asked; all null where checks alone decide."""

    ask: Ask | None = None
    identity: JudgeIdentity | None = None
    use_schema: bool = False
    concurrency: int = 1


def measure_control(
    bundle: Bundle, old: Side, keys: Sequence[RowKey], judge: Judge, stop: Callable[[], bool]
) -> None:
    """Judge the stored answers of these rows that have no verdict yet; each is kept as it falls.

    Where the judge fails `max_consecutive_failures` times in a row this ends early: what is missing then
    leaves the judge not ruled out.
    """
    setup = bundle.manifest.judge
    if setup is None or judge.ask is None or judge.identity is None:
        return
    judging = _judging(bundle, judge.identity, use_schema=judge.use_schema)
    done = _good_verdicts(bundle)
    given = [one for one in _stored(bundle, old, keys) if not _is_done(done.get(one.key), one)]
    failures = 0
    with JsonlAppender(bundle.path / CONTROL_NAME) as lines:
        for judgement in answered(
            (judgement_on(judging, one) for one in given), judge.ask, judge.concurrency, stop
        ):
            failures = failures + 1 if judgement.failure else 0
            if judgement.verdict is not None:
                lines.append(judgement.verdict.to_json())
            if 0 < setup.max_consecutive_failures <= failures:
                return


def control_calls(bundle: Bundle, old: Side, keys: Sequence[RowKey]) -> int:
    """How many times the judge will be asked for these rows."""
    setup = bundle.manifest.judge
    return 0 if setup is None else setup.samples * sum(1 for _ in _stored(bundle, old, keys))


def control_rows(bundle: Bundle, old: Side) -> list[Row]:
    """Rows of the baseline's typical run with today's scores, where every stored answer has some."""
    kept = _good_verdicts(bundle)
    if not kept:
        return []
    rows = []
    for row in old.draws[old.typical]:
        said = [kept.get(_key(bundle, row.key, repeat.repeat)) for repeat in row.repeats]
        pairs = [
            (repeat, verdict)
            for repeat, verdict in zip(row.repeats, said, strict=True)
            if verdict is not None and verdict.answer_sha256 == repeat.answer_sha256
        ]
        if len(pairs) == len(row.repeats):
            again = [_judged_today(repeat, verdict) for repeat, verdict in pairs]
            rows.append(row.replaced(repeats=again))
    return score_rows(rows, old.suite)


def _judged_today(repeat: Repeat, verdict: Verdict) -> Repeat:
    """Checks say of the same answer what they said; only the judge may see it otherwise."""
    return repeat.replaced(scores=dict(verdict.scores), red_flag=verdict.red_flag)


def _judging(bundle: Bundle, identity: JudgeIdentity, *, use_schema: bool) -> Judging:
    manifest = bundle.manifest
    setup, instrument = manifest.judge, manifest.suite.instrument.judge
    if setup is None or instrument is None:
        raise ValueError("a control needs a judge")
    thinking = THINKING_OFF if instrument.thinking == "off" else {}
    # A stored answer's counts and times are not known, so its checks are not run again.
    return Judging(manifest.suite, identity, JudgeCalls(setup, use_schema, thinking), with_checks=False)


def _stored(bundle: Bundle, old: Side, keys: Sequence[RowKey]) -> Iterator[Given]:
    for key in keys:
        for repeat, text in enumerate((old.answers or {}).get(key, []), start=1):
            yield Given(_key(bundle, key, repeat), Answer(text, None, None, None))


def _key(bundle: Bundle, row: RowKey, repeat: int) -> SampleKey:
    """The seeds are those of the run, so that nothing but the answers differs."""
    return SampleKey(*row, repeat, bundle.manifest.draw)


def _is_done(kept: Verdict | None, given: Given) -> bool:
    return kept is not None and kept.answer_sha256 == sha256_of(given.answer.text)


def _good_verdicts(bundle: Bundle) -> dict[SampleKey, Verdict]:
    path = bundle.path / CONTROL_NAME
    kept: dict[SampleKey, Verdict] = {}
    judges: Judges = {}
    for number, value in read_jsonl(path):
        try:
            verdict = verdict_from(value, f"{path}:{number}", judges)
        except BadInputError as error:
            raise BadInputError(str(error), "Remove the file and check again.") from None
        if verdict.status == "judged":
            kept[verdict.key] = verdict
    return kept
