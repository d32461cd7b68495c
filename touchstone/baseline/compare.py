"""Two sides in, one comparison out (design 5.1, 5.2).

`compare` is what files alone can say. The check measures further: `confirm_plan` names what a second
measurement must ask for, `decide` reads it, `control_plan` names the stored answers today's judge must
see before "worse" is said from scores. All are pure; equal sides give an equal comparison.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from touchstone.baseline.comparison import (
    CandidateInfo,
    ComparedRow,
    Comparison,
    Moved,
    ReferenceInfo,
    RowCounts,
    Suspicion,
)
from touchstone.baseline.diffs import case_diffs, variant_diffs
from touchstone.baseline.evidence import NO_EVIDENCE, Evidence, Measure
from touchstone.baseline.finding import Finding
from touchstone.baseline.honesty import honesty_of
from touchstone.baseline.judge_move import worse_by_scores
from touchstone.baseline.listing import compared_cell, compared_rows
from touchstone.baseline.matchup import COVERAGE_LEAST, Matchup, match
from touchstone.baseline.notes import notes_of
from touchstone.baseline.outcome import incomparable, outcome_of
from touchstone.baseline.sides import RowKey, Side
from touchstone.baseline.speed import compared_speed

NOT_RENAMED: Mapping[str, str] = {}


def compare(
    old: Side,
    new: Side,
    *,
    reference: ReferenceInfo,
    candidate: CandidateInfo,
    renamed: Mapping[str, str] = NOT_RENAMED,
) -> Comparison:
    """The comparison on the draws there are. `renamed`: a model's name on the old side → its name on the new.

    Raises RefusedError for sides of different packs, tenants or targets.
    """
    return decide(old, new, NO_EVIDENCE, reference=reference, candidate=candidate, renamed=renamed)


def decide(
    old: Side,
    new: Side,
    evidence: Evidence,
    *,
    reference: ReferenceInfo,
    candidate: CandidateInfo,
    renamed: Mapping[str, str] = NOT_RENAMED,
) -> Comparison:
    """The comparison with what a second measurement brought.

    `new.draws` holds the first run at `new.typical` and the confirming draws after it; those may hold
    single rows or whole cells.
    """
    with _collector_at_rest():
        return _comparison(match(old, new, renamed, evidence), reference, candidate)


def confirm_plan(
    old: Side, new: Side, *, renamed: Mapping[str, str] = NOT_RENAMED, evidence: Evidence = NO_EVIDENCE
) -> list[Measure]:
    """What is still to be measured, each row or answer once, in the run's order; empty: decide now.

    What `new` and `evidence` already hold is not asked for again, so an interrupted confirm step resumes.
    """
    found = match(old, new, renamed, evidence)
    return _merged(need for finding in found.findings for need in finding.needs)


def control_plan(
    old: Side, new: Side, *, renamed: Mapping[str, str] = NOT_RENAMED, evidence: Evidence = NO_EVIDENCE
) -> list[RowKey]:
    """Rows of the baseline's typical run, under its names, whose stored answers today's judge must see.

    Empty unless something is worse by a judge's scores. Rows without a stored answer are left out.
    """
    found = match(old, new, renamed, evidence)
    seen = {row.key for row in evidence.control}
    due = [*worse_by_scores(found.findings), *(finding for finding in found.findings if finding.judge_due)]
    keys = [pair.shown.key for cell in {finding.cell: None for finding in due} for pair in cell.scored]
    return [key for key in keys if key not in seen and old.answers is not None and key in old.answers]


def suspicions_of(
    old: Side, new: Side, *, renamed: Mapping[str, str] = NOT_RENAMED, evidence: Evidence = NO_EVIDENCE
) -> list[Suspicion]:
    """What the run raises and a second measurement could still settle, or did not."""
    return _suspicions(match(old, new, renamed, evidence).findings)


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """No search for cycles meanwhile: there are none, and walking the loaded rows is a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _comparison(found: Matchup, reference: ReferenceInfo, candidate: CandidateInfo) -> Comparison:
    rows = compared_rows(found)
    cells = [compared_cell(found, cell) for cell in found.cells]
    outcome = outcome_of(found, cells, rows)
    old, new = found.old.suite, found.new.suite
    return Comparison(
        status=outcome.status,
        exit=int(outcome.exit),
        reason=outcome.reason,
        pack=new.pack_id,
        tenant=found.new.tenant,
        target=found.new.target,
        reference=reference,
        candidate=candidate,
        counts=_counts(rows),
        not_comparable=_not_comparable(found),
        moved=found.ruler.moved,
        cells=cells,
        rows=rows,
        diffs=[
            *variant_diffs(old.variants, new.variants),
            *case_diffs(old.cases, new.cases, [id_ for id_ in new.cases if id_ in found.ruler.changed]),
        ],
        suspicions=_suspicions(found.findings),
        notes=notes_of(found, cells, rows, outcome),
        honesty=None if found.ruler.instrument else honesty_of(found.cells, found.limits),
        speed=compared_speed(found.old, found.new, [(cell.key, cell.old_model) for cell in found.cells]),
    )


def _counts(rows: Sequence[ComparedRow]) -> RowCounts:
    states = Counter[str](row.state for row in rows)
    return RowCounts.model_validate({state: states[state] for state in RowCounts.model_fields})


def _not_comparable(found: Matchup) -> list[Moved]:
    moved = [*found.ruler.instrument, *_gone_cells(found)]
    moved += [
        Moved(field=f"cases.{prompt}", old="kept", new=None, kind="case") for prompt in found.gone_critical
    ]
    moved += [
        Moved(field=f"cases.{prompt}", old="safety_critical", new="changed", kind="case")
        for prompt in found.changed_critical
    ]
    if found.coverage < COVERAGE_LEAST:
        shared = sum(len(cell.pairs) for cell in found.cells)
        of = shared + sum(len(cell.changed) + len(cell.gone) for cell in found.cells)
        moved.append(Moved(field="rows", old=of, new=shared, kind="case"))
    return moved


def _gone_cells(found: Matchup) -> list[Moved]:
    """The models that are gone, and the variants of models that are not, where they leave no verdict."""
    if incomparable(found) not in {"gone_model", "gone_variant"}:
        return []
    gone = [cell.key[1] for cell in found.gone_cells if cell.key[0] not in found.gone_models]
    fields = [*(f"models.{name}" for name in found.gone_models), *(f"variants.{name}" for name in gone)]
    return [Moved(field=field, old="kept", new=None, kind="case") for field in dict.fromkeys(fields)]


def _suspicions(findings: Iterable[Finding]) -> list[Suspicion]:
    return [
        Suspicion(
            rule=finding.rule,
            model=finding.cell.key[0],
            variant=finding.cell.key[1],
            prompt=finding.pair.key[2] if finding.pair else finding.prompt,
            detail=finding.detail,
            p=finding.p,
        )
        for finding in findings
        if finding.outcome in ("open", "stuck") or finding.needs
    ]


def _merged(needs: Iterable[Measure]) -> list[Measure]:
    """One measure per row or answer, with the most any finding asks for."""
    most: dict[tuple[object, ...], Measure] = {}
    for need in needs:
        key = (need.kind, need.model, need.variant, need.prompt, need.repeat)
        if key not in most or most[key].times < need.times:
            most[key] = need
    return list(most.values())
