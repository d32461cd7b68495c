"""The lines of `judgements.jsonl`: the last word on each sample, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.judge.scenes import IDENTITY
from touchstone.errors import BadInputError
from touchstone.files import JsonlAppender, sha256_of
from touchstone.judge.records import Verdict
from touchstone.judge.verdicts import read_verdicts
from touchstone.records import Misfit, record_from
from touchstone.run.records import SampleKey

KEY = SampleKey("m", "none", "A1", 1, 0)


def verdict(score: int | None = 4, answer: str = "x", **fields: object) -> Verdict:
    """A verdict on A1; without a score it is an error."""
    said = (
        {"status": "error", "reason": "cut"}
        if score is None
        else {"status": "judged", "scores": {"Q1": score}}
    )
    return record_from(
        Verdict, {**KEY._asdict(), "judge": IDENTITY, "answer_sha256": sha256_of(answer), **said, **fields}
    )


def written(folder: Path, *verdicts: Verdict) -> Path:
    with JsonlAppender(folder / "judgements.jsonl") as lines:
        for item in verdicts:
            lines.append(item.to_json())
    return folder


def test_no_file_is_no_verdicts(tmp_path: Path) -> None:
    assert read_verdicts(tmp_path) == {}


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    full = verdict(
        rationale="ä\u2028", spread={"Q1": [4, 4, 5]}, flag_votes=[True, False, False], asked_again=1
    )
    assert read_verdicts(written(tmp_path, full)) == {KEY: full}


def test_an_error_followed_by_a_good_verdict_is_normal(tmp_path: Path) -> None:
    assert read_verdicts(written(tmp_path, verdict(None), verdict(None), verdict(4)))[KEY].scores == {"Q1": 4}


def test_R09_two_good_verdicts_on_one_answer_are_refused_with_both_lines(tmp_path: Path) -> None:
    folder = written(tmp_path, verdict(None), verdict(4), verdict(None), verdict(5))
    with pytest.raises(BadInputError, match=r"judgements\.jsonl:4: second verdict for .* line 2"):
        read_verdicts(folder)


def test_a_new_answer_or_another_judge_brings_a_new_verdict(tmp_path: Path) -> None:
    other = IDENTITY.model_copy(update={"model": "judge-70b"})
    folder = written(tmp_path, verdict(4), verdict(3, answer="y"), verdict(2, answer="y", judge=other))
    assert read_verdicts(folder)[KEY].scores == {"Q1": 2}


def test_passes_are_apart(tmp_path: Path) -> None:
    folder = written(tmp_path, verdict(4), verdict(2, pass_=1))
    assert read_verdicts(folder)[KEY].scores == {"Q1": 4}
    assert read_verdicts(folder, 1)[KEY].scores == {"Q1": 2}
    assert read_verdicts(folder, 2) == {}


def test_a_line_that_is_no_verdict_is_named(tmp_path: Path) -> None:
    folder = written(tmp_path, verdict(4))
    with (folder / "judgements.jsonl").open("a") as handle:
        handle.write('{"model": "m"}\n')
    with pytest.raises(BadInputError, match=r"judgements\.jsonl:2: not a verdict: variant"):
        read_verdicts(folder)


def test_E08_a_score_is_a_whole_number_or_not_there() -> None:
    for score in (4.5, None, "n/a"):
        with pytest.raises(Misfit, match="Q1"):
            verdict(1, scores={"Q1": score})
