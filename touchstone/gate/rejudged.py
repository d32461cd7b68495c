"""Rejudged: what today's judge made of stored answers, read from the runs that keep its verdicts."""

from __future__ import annotations

from touchstone.baseline.comparison import JudgeMoved
from touchstone.baseline.sides import Side
from touchstone.files import read_bytes
from touchstone.gate.reference import Reference
from touchstone.gate.runs import stored_result
from touchstone.pack.suite import JudgeInstrument
from touchstone.result.rows import rows_by_cell
from touchstone.result.schema import ResultDoc
from touchstone.result.scorecard import cell_quality
from touchstone.run.bundle import MANIFEST_NAME, Bundle
from touchstone.run.find import list_bundles


def judge_moved(old: Side, rejudged: Bundle) -> list[JudgeMoved]:
    """What today's judge makes of each cell of stored answers: the old number beside the new one."""
    typical = rows_by_cell(old.draws[old.typical])
    before = {cell: cell_quality(rows, old.suite) for cell, rows in typical.items()}
    return [
        JudgeMoved(
            run=rejudged.id,
            model=cell.model,
            variant=cell.variant,
            old=before[cell.model, cell.variant].pct,
            new=cell.quality.pct,
            safety=(before[cell.model, cell.variant].safety_passed, cell.quality.safety_passed),
        )
        for cell in stored_result(rejudged).cells
        if cell.quality is not None and (cell.model, cell.variant) in before
    ]


def moved_beside(reference: Reference, bundle: Bundle) -> list[JudgeMoved]:
    """The reference's stored answers under the judge of the run beside it; empty where nobody looked."""
    if bundle.manifest.judge is None:
        return []
    origin = reference.info.digest or reference.side.run_ids[reference.side.typical]
    found = list_bundles(bundle.path.parent, lambda other: _is_rejudged_from(other, origin))
    judge = stored_result(bundle).instrument.judge if found else None
    fitting = [other for other in found if _is_judged_by(judge, stored_result(other))]
    return judge_moved(reference.side, fitting[-1]) if fitting else []


def _is_rejudged_from(bundle: Bundle, origin: str) -> bool:
    # A large run's manifest takes long to read, and hardly any names the origin at all.
    named = origin.encode() in read_bytes(bundle.path / MANIFEST_NAME)
    return named and bundle.manifest.rejudged_from == origin


def _is_judged_by(judge: JudgeInstrument | None, result: ResultDoc) -> bool:
    return result.run.judged is not None and result.instrument.judge == judge
