"""The verdicts a bundle keeps: `judgements.jsonl`, read by the rules of its lines."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from touchstone.errors import BadInputError
from touchstone.files import read_jsonl
from touchstone.judge.records import Verdict
from touchstone.run.records import SampleKey

JUDGEMENTS_NAME = "judgements.jsonl"


def read_verdicts(bundle_path: Path, pass_: int = 0) -> dict[SampleKey, Verdict]:
    """The last word on each sample in one pass over a bundle's answers.

    An error followed by a good verdict is normal, and so is a verdict on a new answer or by another
    judge. Two good ones by the same judge on the same answer are refused with both lines.
    """
    path = bundle_path / JUDGEMENTS_NAME
    found: dict[SampleKey, Verdict] = {}
    line_of: dict[SampleKey, int] = {}
    for number, value in read_jsonl(path):
        verdict = _verdict(value, f"{path}:{number}")
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
        found[key], line_of[key] = verdict, number
    return found


def _is_settled(kept: Verdict, later: Verdict) -> bool:
    same = (kept.answer_sha256, kept.judge) == (later.answer_sha256, later.judge)
    return same and kept.status == "judged"


def _verdict(value: object, source: str) -> Verdict:
    try:
        return Verdict.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadInputError(f"{source}: not a verdict: {place}: {first['msg']}") from None
