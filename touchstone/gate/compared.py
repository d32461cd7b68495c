"""A run held against its reference, or the comparison that says there is none yet."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.baseline.compare import compare
from touchstone.baseline.comparison import (
    CandidateInfo,
    ComparedCell,
    ComparedRow,
    Comparison,
    RowCounts,
)
from touchstone.baseline.sides import Side
from touchstone.config import Config
from touchstone.errors import ExitCode
from touchstone.gate.reference import Reference, candidate_info, runs_side
from touchstone.result.rows import rows_by_cell
from touchstone.result.schema import Row
from touchstone.result.scorecard import cell_quality
from touchstone.run.bundle import Bundle


def compared(reference: Reference | None, bundle: Bundle, config: Config) -> Comparison:
    """Compare a run with its reference; without one every row is new and nothing is worse."""
    side, candidate = runs_side([bundle]), candidate_info(bundle, draws=1)
    if reference is None:
        return without_reference(side, candidate, required=config.compare.require_baseline)
    return compare(
        reference.side, side, reference=reference.info, candidate=candidate, renamed=renamed_models(bundle)
    )


def renamed_models(bundle: Bundle) -> dict[str, str]:
    """A model's name in the baseline → its name in the run, where the settings say so (`was`)."""
    return {model.was: model.id for model in bundle.manifest.models if model.was is not None}


def without_reference(side: Side, candidate: CandidateInfo, *, required: bool) -> Comparison:
    """Nothing was agreed to yet: scores are shown, every row is new."""
    rows = side.draws[side.typical]
    return Comparison(
        status="no_reference",
        exit=ExitCode.NOT_COMPARABLE if required else ExitCode.NOTHING_WORSE,
        reason="no_reference",
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
            new=len(rows),
            gone=0,
            not_judged=0,
        ),
        not_comparable=[],
        moved=[],
        cells=[_new_cell(own, side) for own in rows_by_cell(rows).values()],
        rows=[_new_row(row) for row in rows],
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
        old_below=0,
        new_below=sum(row.below_line for row in rows),
        identical=0,
        shared=0,
    )


def _new_row(row: Row) -> ComparedRow:
    return ComparedRow(
        model=row.model,
        variant=row.variant,
        prompt=row.prompt,
        state="new",
        old=None,
        new=row.pct,
        moved_by=[],
        draws=1,
        confirmed=False,
        same_answer=None,
    )
