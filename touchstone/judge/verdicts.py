"""The verdicts a bundle keeps: `judgements.jsonl`, read by the rules of its lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from touchstone.errors import BadInputError
from touchstone.files import read_jsonl
from touchstone.judge.records import JudgeIdentity, Verdict
from touchstone.records import Misfit, record_from, share_texts
from touchstone.run.records import SampleKey

JUDGEMENTS_NAME = "judgements.jsonl"

Judges = dict[JudgeIdentity, JudgeIdentity]

_REPEATED = ("model", "variant", "prompt", "status", "reason", "label", "scores", "spread")
"""Texts that many verdicts share; each is held once."""


def read_verdicts(
    bundle_path: Path, pass_: int = 0, *, with_words: Callable[[SampleKey], bool] = lambda _: True
) -> dict[SampleKey, Verdict]:
    """The last word on each sample in one pass over a bundle's answers; what the judge wrote (rationale,
    raw reply) is let go where `with_words` says no.

    An error followed by a good verdict is normal, and so is a verdict on a new answer or by another
    judge. Two good ones by the same judge on the same answer are refused with both lines.
    """
    path = bundle_path / JUDGEMENTS_NAME
    found: dict[SampleKey, Verdict] = {}
    line_of: dict[SampleKey, int] = {}
    judges: Judges = {}
    for number, value in read_jsonl(path):
        verdict = verdict_from(value, f"{path}:{number}", judges)
        if verdict.pass_ != pass_:
            continue
        key = verdict.key
        if key in found and _is_settled(found[key], verdict):
            if verdict.status == "judged":
                raise BadInputError(
                    f"{path}:{number}: second verdict for {key}; the first is in line {line_of[key]}",
                    "Keep one of the two lines, or start a new run.",
                )
            continue
        found[key] = verdict if with_words(key) else verdict.replaced(rationale=None, raw_reply=None)
        line_of[key] = number
    return found


def verdict_from(value: object, source: str, judges: Judges) -> Verdict:
    """One line as a verdict; BadInputError where it is none. `judges` holds each judge met so far once."""
    share_texts(value, _REPEATED)
    try:
        verdict = record_from(Verdict, value)
    except Misfit as misfit:
        raise BadInputError(f"{source}: not a verdict: {misfit}") from None
    judge = verdict.judge
    return verdict if judge is None else verdict.replaced(judge=judges.setdefault(judge, judge))


def _is_settled(kept: Verdict, later: Verdict) -> bool:
    same = (kept.answer_sha256, kept.judge) == (later.answer_sha256, later.judge)
    return same and kept.status == "judged"
