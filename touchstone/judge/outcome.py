"""How a judging went: told while it goes on, and summed up at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from touchstone.judge.answers import Judgement
from touchstone.judge.calibration import CalibrationVerdict
from touchstone.judge.opinion import total
from touchstone.judge.records import Verdict, VerdictStatus


@dataclass(frozen=True, slots=True)
class JudgeProgress:
    """Where the judging stands. `planned` counts the answers there are; exactly one of the last two is set
    unless the judge was not reached. `elapsed_s` is None without a clock."""

    done: int
    planned: int
    errors: int
    calls: int
    elapsed_s: float | None
    verdict: Verdict | None = None
    calibration: CalibrationVerdict | None = None
    unscored: int = 0


@dataclass(frozen=True, slots=True)
class JudgeOutcome:
    """What stands in the bundle after a judging; `calls`, `seconds` and tokens are this judging's own.

    `open` counts answers without a verdict. `calibrated` is None where there was nothing to calibrate by.
    `stopped` says that it was told to stop. Seconds and tokens are None where the judge's engine told none.
    """

    answered: int = 0
    judged: int = 0
    unscored: int = 0
    errors: int = 0
    open: int = 0
    calls: int = 0
    seconds: float | None = 0.0
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    calibrated: bool | None = None
    stopped: bool = False


class Tally:
    """Counts what stands in the bundle and what this judging cost, and tells who listens."""

    def __init__(
        self,
        answers: int,
        progress: Callable[[JudgeProgress], None] | None,
        clock: Callable[[], float] | None,
        done: Iterable[VerdictStatus],
    ) -> None:
        self.outcome = JudgeOutcome(answered=answers, open=answers)
        self.failures_in_a_row = 0
        self._progress = progress
        self._clock = clock
        self._started = clock() if clock else 0.0
        for status in done:
            self._count(status)

    def take(self, judgement: Judgement) -> None:
        """Count one answer's judgement; a failing judge is counted until it succeeds once."""
        if judgement.failure:
            self.failures_in_a_row += 1
        elif judgement.calls:
            self.failures_in_a_row = 0
        if judgement.verdict:
            self._count(judgement.verdict.status)
            self._add_cost(judgement.calls, judgement.verdict)
        self._tell(verdict=judgement.verdict)

    def take_calibration(self, verdict: CalibrationVerdict) -> None:
        """Add what an item cost; it is no answer of the run."""
        self._add_cost(verdict.calls, verdict)
        self._tell(calibration=verdict)

    def _count(self, status: VerdictStatus) -> None:
        name = {"judged": "judged", "unscored": "unscored", "error": "errors"}[status]
        changes = {name: getattr(self.outcome, name) + 1, "open": self.outcome.open - 1}
        self.outcome = replace(self.outcome, **changes)

    def _add_cost(self, calls: int, verdict: Verdict | CalibrationVerdict) -> None:
        if not calls:
            return
        so_far = self.outcome
        self.outcome = replace(
            so_far,
            calls=so_far.calls + calls,
            seconds=total(so_far.seconds, verdict.seconds),
            prompt_tokens=total(so_far.prompt_tokens, verdict.prompt_tokens),
            completion_tokens=total(so_far.completion_tokens, verdict.completion_tokens),
        )

    def _tell(self, verdict: Verdict | None = None, calibration: CalibrationVerdict | None = None) -> None:
        if self._progress is None:
            return
        outcome = self.outcome
        elapsed_s = self._clock() - self._started if self._clock else None
        self._progress(
            JudgeProgress(
                done=outcome.answered - outcome.open,
                planned=outcome.answered,
                errors=outcome.errors,
                unscored=outcome.unscored,
                calls=outcome.calls,
                elapsed_s=elapsed_s,
                verdict=verdict,
                calibration=calibration,
            )
        )
