"""One call of `check --ci github`, as far as it has come: what was found, and how it ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from touchstone.cli.job import Job
from touchstone.errors import ExitCode, TouchstoneError
from touchstone.gate.change import Change
from touchstone.gate.check import PackCheck, worst_exit
from touchstone.gate.event import Event
from touchstone.render.review import Occasion, PackReview
from touchstone.render.words import Language, Words
from touchstone.run.bundle import Bundle

WHOLE_CALL = "touchstone"
"""What stands in a pack's place where something kept all of them from being checked."""

_FAILING = {
    "worse": frozenset({ExitCode.WORSE, ExitCode.REFUSED}),
    "not-judged": frozenset(ExitCode) - {ExitCode.NOTHING_WORSE},
    "suspect": frozenset(ExitCode) - {ExitCode.NOTHING_WORSE},
}
"""Which of the exit codes fail a job, beside those that say touchstone itself did not get through."""
_ALWAYS_FAILING = frozenset({ExitCode.USAGE, ExitCode.BUG, ExitCode.INTERRUPTED})


@dataclass
class Call:
    """One call in a job, as far as it has come."""

    job: Job
    given: dict[str, Any]
    words: Words = field(default_factory=Words)
    fail_on: str = "not-judged"
    event: Event | None = None
    change: Change | None = None
    reviews: list[PackReview] = field(default_factory=list)
    bundles: list[Bundle] = field(default_factory=list)
    first: list[str] = field(default_factory=list)
    shards: list[PackCheck] = field(default_factory=list)
    """What was measured and has no verdict of its own."""
    stopped: ExitCode | None = None
    """What kept the whole call from its end."""
    is_news: bool = False
    """Whether the sentences say something a reader must know, though no row moved."""

    @property
    def language(self) -> Language:
        """The reader's language."""
        return self.words.language

    @property
    def exit(self) -> ExitCode:
        """touchstone's own exit code, whatever fails the job."""
        if self.stopped is not None:
            return self.stopped
        shares = [check.exit for check in self.shards]
        return worst_exit([*(review.exit for review in self.reviews), *shares])

    @property
    def is_share(self) -> bool:
        """Whether there is nothing to tell but that a share was measured."""
        return bool(self.shards) and not self.reviews

    @property
    def occasion(self) -> Occasion:
        """Where and for what this runs."""
        effective = self.change.agreed.effective if self.change is not None else None
        return Occasion(
            run_id=self.job.run_id,
            attempt=self.job.attempt,
            head_sha=self.head,
            run_url=self.job.run_url,
            base=self.change.base.commit if self.change is not None else None,
            name=self.given.get("name"),
            tenant=effective.config.tenant if effective else "default",
            target=effective.config.target if effective else None,
            first=self.first,
        )

    @property
    def head(self) -> str:
        """The commit a reader knows this by."""
        told = self.event.head if self.event is not None else None
        return told or (self.change.base.tested if self.change is not None else "")

    def stop(self, error: TouchstoneError) -> None:
        """Note what keeps the whole call from its end."""
        self.stopped = error.exit_code
        self.reviews.append(PackReview(WHOLE_CALL, error=error))


def job_exit(call: Call) -> int:
    """What the job ends with: touchstone's exit code where `fail_on` says that it fails, else 0."""
    code = call.exit
    if code in _ALWAYS_FAILING | _FAILING[call.fail_on]:
        return code
    suspect = any(review.status == "suspect" for review in call.reviews)
    return ExitCode.WORSE if suspect and call.fail_on == "suspect" else ExitCode.NOTHING_WORSE
