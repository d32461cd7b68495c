"""What the judging leaves behind: one verdict per line of `judgements.jsonl`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from touchstone.records import COMPACT, CompactRecord, Record
from touchstone.run.records import SampleKey

CheckStatus = Literal["pass", "fail", "error"]
VerdictStatus = Literal["judged", "unscored", "error"]


class JudgeIdentity(Record):
    """Who judged. Null in a verdict means: checks only, no model was asked."""

    model: str
    version: str | None
    prompt_version: int


@dataclass(**COMPACT)
class CheckVerdict(CompactRecord):
    """What one check says of one answer. `score` is 0…1, null on error."""

    id: str
    status: CheckStatus
    score: float | None
    detail: str


@dataclass(**COMPACT, kw_only=True)
class Verdict(CompactRecord):
    """What the judge and the checks say of one answer.

    `status` judged: everything asked for is there · unscored: there was nothing to judge (failed
    generation, reasoning only), `reason` says which · error: it could not be judged; `raw_reply` keeps
    what the judge said. An error is never turned into a number.
    """

    model: str
    variant: str
    prompt: str
    repeat: int
    draw: int
    pass_: int = Field(default=0, alias="pass")
    judge: JudgeIdentity | None
    answer_sha256: str
    scores: dict[str, int] = Field(default={})
    red_flag: bool | None = None
    rationale: str | None = None
    checks: list[CheckVerdict] = Field(default=[])
    label: str | None = None
    """The class read from the answer, for labelled packs."""
    status: VerdictStatus
    reason: str | None = None
    """A code: `generation_failed`, `reasoning_only`, `check_error`, `no_class`, or the parser's."""
    raw_reply: str | None = None
    seconds: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    spread: dict[str, list[int]] = Field(default={})
    """Each sample's score per dimension in the order of asking, where the judge was asked several times."""
    flag_votes: list[bool] = Field(default=[])
    """Each sample's flag, likewise."""
    asked_again: int = 0
    """How often a reply could not be used and the judge was asked once more."""
    detail: str | None = None
    """Why, in one sentence, where the status is error."""
    reused_from: str | None = None
    """The run whose judge said this of the very same answer; null: the judge was asked."""

    @property
    def key(self) -> SampleKey:
        """The sample this judges."""
        return SampleKey(self.model, self.variant, self.prompt, self.repeat, self.draw)
