"""What a second measurement asks for, and what it brings back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from touchstone.baseline.sides import RowKey
from touchstone.result.schema import Row

AnswerKey = tuple[str, str, str, int]
"""(model, variant, prompt, repeat): one answer of the first run."""


@dataclass(frozen=True, order=True)
class Measure:
    """One thing still to be measured, `times` more than there is already.

    `ask`: a whole fresh draw of the row (every repeat), judged as usual. `judge`: the first run's answer
    of one repeat judged again under another judge seed.
    """

    kind: Literal["ask", "judge"]
    model: str
    variant: str
    prompt: str
    repeat: int | None
    times: int


@dataclass(frozen=True)
class Evidence:
    """What was measured beside the draws of the candidate.

    `flags`: red flags from judging an answer of the first run again, one per judgement. `rejudged`: rows
    of the first run judged once more. `control`: rows of the baseline's typical run, under its own model
    names, with today's judge's verdicts on the stored answers. `given_up`: what is still suspect will not be
    measured again, so that one draw alone convicts nothing that a second look was due for.
    """

    flags: Mapping[AnswerKey, Sequence[bool | None]] = field(default_factory=dict)
    rejudged: Sequence[Row] = ()
    control: Sequence[Row] = ()
    given_up: bool = False

    def rejudged_rows(self) -> dict[RowKey, Row]:
        """The rejudged rows by key."""
        return {row.key: row for row in self.rejudged}


NO_EVIDENCE = Evidence()
