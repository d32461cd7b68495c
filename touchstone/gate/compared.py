"""A run held against its reference, or the comparison that says there is none yet."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.baseline.comparison import (
    CandidateInfo,
    ComparedCell,
    ComparedRow,
    Comparison,
    RowCounts,
)
from touchstone.baseline.outcome import too_silent
from touchstone.baseline.sides import Side
from touchstone.baseline.states import why_not_judged
from touchstone.config import Config
from touchstone.errors import ExitCode
from touchstone.gate.held import Held, side_of_run
from touchstone.gate.reference import Reference, candidate_info
from touchstone.pack.suite import Suite
from touchstone.result.rows import rows_by_cell
from touchstone.result.schema import Row
from touchstone.result.scorecard import below_line, cell_quality
from touchstone.run.bundle import Bundle


def compared(reference: Reference | None, bundle: Bundle, config: Config) -> Comparison:
    """Compare a run, with all that was measured of it, with its reference; nothing is asked.

    Without a reference every row is new and nothing is worse.
    """
    if reference is None:
        side, candidate = side_of_run(bundle), candidate_info(bundle, draws=1)
        return without_reference(side, candidate, required=config.compare.require_baseline)
    held = Held(reference, bundle)
    return held.comparison(held.plan())


def says_nothing(rows: Sequence[Row], suite: Suite) -> str | None:
    """Why a run says nothing (exit 2): more than max(1 row, 5 %), a safety-critical row, or all there is was
    not judged; null where it does."""
    return too_silent([row.prompt for row in rows if row.state in {None, "error"}], len(rows), suite)


def without_reference(side: Side, candidate: CandidateInfo, *, required: bool) -> Comparison:
    """Nothing was agreed to yet: scores are shown, every row is new."""
    rows = [_new_row(row) for row in side.draws[side.typical]]
    unjudged = sum(row.state == "not_judged" for row in rows)
    exit_code = ExitCode.NOT_COMPARABLE if required else ExitCode.NOTHING_WORSE
    silent = says_nothing(side.draws[side.typical], side.suite)
    return Comparison(
        status="not_judged" if silent else "no_reference",
        exit=ExitCode.NOT_JUDGED if silent else exit_code,
        reason=silent or "no_reference",
        pack=side.suite.pack_id,
        tenant=side.tenant,
        target=side.target,
        reference=None,
        candidate=candidate,
        counts=RowCounts(
            worse=0,
            better=0,
            unchanged=0,
            within_noise=0,
            suspect=0,
            rule_changed=0,
            new=len(rows) - unjudged,
            gone=0,
            not_judged=unjudged,
        ),
        not_comparable=[],
        moved=[],
        cells=[_new_cell(own, side) for own in rows_by_cell(side.draws[side.typical]).values()],
        rows=rows,
        diffs=[],
        suspicions=[],
        notes=[],
        honesty=None,
    )


def _new_cell(rows: Sequence[Row], side: Side) -> ComparedCell:
    quality = cell_quality(rows, side.suite)
    return ComparedCell(
        model=rows[0].model,
        variant=rows[0].variant,
        state="new",
        old=None,
        new=quality.pct,
        difference=None,
        interval=None,
        level=(None, quality.rubric_level),
        safety=(None, quality.safety_passed),
        length=(None, None),
        coverage=0.0,
        deterministic=None,
        old_below=None,
        new_below=below_line(rows),
        identical=0,
        shared=0,
    )


def _new_row(row: Row) -> ComparedRow:
    return ComparedRow(
        model=row.model,
        variant=row.variant,
        prompt=row.prompt,
        state="new" if row.pct is not None else "not_judged",
        old=None,
        new=row.pct,
        moved_by=[],
        draws=1,
        confirmed=False,
        same_answer=None,
        reason=_reason(row),
    )


def _reason(row: Row) -> str | None:
    if row.pct is None:
        return why_not_judged(row)
    return "red_flag" if any(repeat.red_flag for repeat in row.repeats) else None
