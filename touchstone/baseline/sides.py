"""A side of a comparison: what was asked, under which rules, and every draw of every row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from touchstone.baseline.kept import RowKey, draws_of, suite_of
from touchstone.baseline.schema import Baseline, KeptGit, KeptProvenance, KeptSpeed
from touchstone.baseline.store import kept_provenance, kept_speed
from touchstone.errors import BadInputError
from touchstone.pack.suite import Hashes, Suite
from touchstone.result.rows import CellKey
from touchstone.result.schema import ResultDoc, Row
from touchstone.result.scorecard import score_rows
from touchstone.run.records import Manifest

__all__ = ["RowKey", "Side", "side_of_baseline", "side_of_runs"]


@dataclass(frozen=True)
class Side:
    """A baseline, or one or more runs, ready to be compared.

    `draws` holds every run's rows, scored under `suite.rules`; `typical` is the index of the run whose
    numbers are shown. `answers` are that run's texts, one per repeat; null where they were not kept.
    """

    suite: Suite
    hashes: Hashes
    tenant: str
    target: str | None
    draws: tuple[tuple[Row, ...], ...]
    typical: int
    provenance: KeptProvenance
    day: str | None
    git: KeptGit
    answers: Mapping[RowKey, list[str]] | None
    run_ids: list[str]
    speed: Mapping[CellKey, KeptSpeed] = field(default_factory=dict)
    """The typical run's, by cell; for information only."""


def side_of_baseline(baseline: Baseline) -> Side:
    """A verified baseline as a side."""
    suite = suite_of(baseline)
    return Side(
        suite=suite,
        hashes=baseline.hashes,
        tenant=baseline.tenant,
        target=baseline.target,
        draws=tuple(map(tuple, draws_of(baseline, suite))),
        typical=next(number for number, run in enumerate(baseline.runs) if run.typical),
        provenance=baseline.provenance,
        day=baseline.date,
        git=baseline.git,
        answers=_kept_texts(baseline),
        run_ids=[run.id for run in baseline.runs],
        speed={(cell.model, cell.variant): cell.speed for cell in baseline.cells},
    )


def side_of_runs(
    results: Sequence[ResultDoc],
    manifests: Sequence[Manifest],
    answers: Mapping[RowKey, list[str]] | None = None,
    typical: int = 0,
) -> Side:
    """One or more runs as a side, under the rules of the typical one. `answers` are the typical run's.

    BadInputError for no run at all.
    """
    if not results:
        raise BadInputError("there is no run to compare")
    result, manifest = results[typical], manifests[typical]
    suite = manifest.suite.model_copy(update={"instrument": result.instrument, "rules": result.rules})
    return Side(
        suite=suite,
        hashes=result.hashes,
        tenant=result.run.tenant,
        target=result.run.target,
        draws=tuple(tuple(score_rows(each.rows, suite)) for each in results),
        typical=typical,
        provenance=kept_provenance(manifest, result),
        day=result.provenance.date,
        git=KeptGit(commit=result.run.commit, clean=result.run.clean),
        answers=answers,
        run_ids=[each.run.id for each in results],
        speed={(cell.model, cell.variant): kept_speed(cell) for cell in result.cells},
    )


def _kept_texts(baseline: Baseline) -> dict[RowKey, list[str]] | None:
    if baseline.answers is None:
        return None
    return {(kept.model, kept.variant, kept.prompt): kept.texts for kept in baseline.answers}
