"""The verdict on the whole: status, exit code and the code of the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.baseline.comparison import ComparedCell, ComparedRow, Status
from touchstone.baseline.matchup import COVERAGE_LEAST, Matchup
from touchstone.errors import ExitCode
from touchstone.pack.suite import Suite
from touchstone.result.unjudged import too_many_unjudged

_WORSE_FIRST = ("suite", "red_flag", "judge_reads_otherwise", "floor", "check_flip", "case_fell")
"""Which reason speaks for the whole when several things are worse."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ends."""

    status: Status
    exit: ExitCode
    reason: str


def outcome_of(found: Matchup, cells: Sequence[ComparedCell], rows: Sequence[ComparedRow]) -> Outcome:
    """Worse beats could-not-be-judged beats not-comparable beats everything that ends well."""
    worse = {finding.reason for finding in found.findings if finding.outcome == "worse"}
    if worse:
        return Outcome("worse", ExitCode.WORSE, next(code for code in _WORSE_FIRST if code in worse))
    if (unjudged := why_unjudged(found, rows)) is not None:
        return Outcome("not_judged", ExitCode.NOT_JUDGED, unjudged)
    reason = incomparable(found)
    if reason is not None:
        return Outcome("not_comparable", ExitCode.NOT_COMPARABLE, reason)
    open_ = [finding for finding in found.findings if finding.outcome in ("open", "stuck")]
    if open_ or any(cell.state == "suspect" for cell in cells):
        exit_code = ExitCode.WORSE if fails_on_suspect(found) else ExitCode.NOTHING_WORSE
        return Outcome("suspect", exit_code, open_[0].reason if open_ else "suite")
    if fails_on_suspect(found) and any(row.state == "suspect" for row in rows):
        return Outcome("suspect", ExitCode.WORSE, "row_lower")
    return _well(found, cells)


def fails_on_suspect(found: Matchup) -> bool:
    """Whether what is suspect is to end red, single rows included."""
    return found.limits.settings.fail_on == "suspect"


def why_unjudged(found: Matchup, rows: Sequence[ComparedRow]) -> str | None:
    """More rows without a verdict than one and 5 %, or a single safety-critical one; else null."""
    unjudged = [row.prompt for row in rows if row.state == "not_judged"]
    return too_silent(unjudged, sum(row.state != "gone" for row in rows), found.suite)


def too_silent(unjudged: Sequence[str], of: int, suite: Suite) -> str | None:
    """Why so many of `of` rows without a verdict leave nothing to say, as a code; null where they do not.

    `unjudged` are their prompts.
    """
    if too_many_unjudged(len(unjudged), of):
        return "not_judged"
    critical = any(suite.cases[prompt].rubric.safety_critical for prompt in unjudged)
    return "critical_not_judged" if critical else None


def incomparable(found: Matchup) -> str | None:
    """Why there is no verdict: another instrument, a moved judge, too little in common; or null."""
    if found.ruler.instrument:
        return "instrument"
    if any(finding.outcome == "judge_moved" for finding in found.findings):
        return "judge_moved"
    if found.gone_critical:
        return "gone_safety"
    if found.changed_critical:
        return "changed_safety"
    covered = found.coverage >= COVERAGE_LEAST
    if found.gone_cells and (found.cells_take_danger or not covered):
        return "gone_model" if found.gone_models else "gone_variant"
    return None if covered else "coverage"


def _well(found: Matchup, cells: Sequence[ComparedCell]) -> Outcome:
    states = {cell.state for cell in cells}
    if "better" in states:
        alone = all(cell.identical == cell.shared for cell in cells if cell.state == "better")
        return Outcome("better", ExitCode.NOTHING_WORSE, "judge_alone" if alone else "suite")
    if states & {"within_noise", "not_judged"}:
        few = all(cell.interval is None for cell in cells if cell.state == "within_noise")
        return Outcome("within_noise", ExitCode.NOTHING_WORSE, "too_few_cases" if few else "interval")
    identical = all(cell.identical == cell.shared for cell in cells) and _changed_answered_alike(found)
    return Outcome("unchanged", ExitCode.NOTHING_WORSE, "same_answers" if identical else "inside_margin")


def _changed_answered_alike(found: Matchup) -> bool:
    """Whether rows that are only looked at otherwise were answered as before; to another question none is."""
    old, new = found.old.suite.cases, found.new.suite.cases
    return all(
        pair.same_answer is True
        for cell in found.cells
        for pair in cell.changed
        if old[pair.key[2]].input_sha256 == new[pair.key[2]].input_sha256
    )
