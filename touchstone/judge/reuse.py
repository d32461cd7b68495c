"""Verdicts of another run, for answers about which the judge would be asked the very same thing again.

A verdict is taken over where the answer, its rubric, its input and the judge are all unchanged, the judge's
seed included; anything else is judged. Whose answer it was does not count, for the judge is never told.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from touchstone.errors import RefusedError
from touchstone.judge.answers import Given, Judging
from touchstone.judge.prompt import brief_of
from touchstone.judge.records import Verdict
from touchstone.judge.verdicts import read_verdicts
from touchstone.pack.suite import Suite
from touchstone.run.bundle import Bundle

_AskedOf = tuple[str, str, int]
"""Prompt, hash of the answer, draw: the draw moves the judge's seed."""


@dataclass(frozen=True)
class Earlier:
    """Another run's verdicts. `verdicts` holds those the judge gave, by what it was asked of."""

    run: str
    suite: Suite
    verdicts: dict[_AskedOf, Verdict]
    _same_cases: dict[str, bool] = field(default_factory=dict)

    def verdict_on(self, judging: Judging, given: Given) -> Verdict | None:
        """The verdict that stands for a new one, None where the judge has to be asked."""
        found = self.verdicts.get((given.key.prompt, given.sha256, given.key.draw))
        if found is None or judging.pass_ != 0 or found.judge != judging.judge_of(given.key.prompt):
            return None
        return found if self._is_same_case(judging.suite, given.key.prompt) else None

    def _is_same_case(self, suite: Suite, prompt: str) -> bool:
        if prompt not in self._same_cases:
            was, now = self.suite.cases[prompt], suite.cases[prompt]
            hashes = (was.input_sha256, was.rubric_sha256) == (now.input_sha256, now.rubric_sha256)
            # The hashes do not cover the words of scale and dimensions, which the judge reads too.
            self._same_cases[prompt] = hashes and brief_of(self.suite, prompt) == brief_of(suite, prompt)
        return self._same_cases[prompt]


def earlier_verdicts(bundle: Bundle, other: Bundle) -> Earlier:
    """The verdicts of `other` that a judging of `bundle` may take over.

    Raises RefusedError where the two were started with different judges, so that none could be.
    """
    was, now = other.manifest, bundle.manifest
    instruments = [_without_version(manifest.suite) for manifest in (was, now)]
    if now.judge is None or was.judge != now.judge or instruments[0] != instruments[1]:
        raise RefusedError(
            f"{other.id} was not judged by the judge of {bundle.id}: none of its verdicts can be reused",
            f"Judge without them: touchstone judge --bundle {bundle.id}",
        )
    verdicts = {
        (key.prompt, verdict.answer_sha256, key.draw): verdict
        for key, verdict in read_verdicts(other.path).items()
        # An empty answer asks nobody, so there is nothing to save.
        if verdict.status == "judged" and verdict.judge is not None and verdict.rationale is not None
    }
    return Earlier(other.id, was.suite, verdicts)


def _without_version(suite: Suite) -> object:
    """Who judges and how; the version is what each verdict itself names."""
    judge = suite.instrument.judge
    return judge and judge.model_copy(update={"version": None})
