"""A promotion prepared: the runs, what speaks against them, and the one file it would write.

Nothing here writes or commits; the command line shows this and, where nothing speaks against it, hands
the file to git.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from touchstone.baseline import promote, store
from touchstone.baseline.compare import compare
from touchstone.baseline.comparison import Comparison
from touchstone.baseline.promote import Note
from touchstone.baseline.refusals import Refusal, Standing, Today, refusals
from touchstone.baseline.schema import Baseline
from touchstone.baseline.store import MeasuredRun
from touchstone.config import Config
from touchstone.errors import BadInputError, RefusedError, TouchstoneError
from touchstone.files import read_bytes
from touchstone.gate.held import renamed_models
from touchstone.gate.recheck import contradictions, listed
from touchstone.gate.reference import Reference, baseline_reference, candidate_info, runs_side
from touchstone.gate.runs import load_run, read_selection, recomputed
from touchstone.gate.start import suite_for
from touchstone.git import Repository
from touchstone.pack.load import LoadedPack
from touchstone.result.select import select_typical, selection_refusals
from touchstone.run.bundle import Bundle


@dataclass(frozen=True)
class Wanted:
    """What a person asked for. `base` is the ref the new commit will stand on."""

    bundles: Sequence[Bundle]
    base: str
    reason: str | None
    allow_single: bool
    with_answers: bool


@dataclass(frozen=True)
class Prepared:
    """What a promotion would do. `baseline` is null exactly where `refusals` is not empty."""

    repository: Repository
    relpath: str
    bundles: list[Bundle]
    typical: int
    refusals: list[Refusal]
    notes: list[Note]
    comparison: Comparison | None
    replaces: Baseline | None
    baseline: Baseline | None


def drawn_bundles(bundles: Sequence[Bundle]) -> list[Bundle]:
    """The runs a promotion rests on: those named, or all that a selected run was chosen from."""
    if len(bundles) != 1:
        return list(bundles)
    selection = read_selection(bundles[0])
    if selection is None:
        return list(bundles)
    return [Bundle(bundles[0].path.parent / run) for run in selection.runs]


def prepare(wanted: Wanted, loaded: LoadedPack, config: Config, root: Path, today: date) -> Prepared:
    """Look at everything a promotion rests on. Raises RefusedError where there is no git to promote into."""
    repository = Repository.open(root)
    if repository is None or repository.head() is None:
        raise RefusedError(
            f"{root}: not a git repository with a commit; a baseline lives in git",
            "Commit the pack and its prompts first: git init && git add -A && git commit",
        )
    runs = [load_run(bundle) for bundle in wanted.bundles]
    relpath = repository.relative(
        store.path_of(root / config.baselines_dir, config.tenant, loaded.pack.id, config.target)
    )
    standing, standing_reference = _standing(repository, relpath, wanted.base, today)
    replaces = store.parse(standing.at_base, relpath) if standing_reference and standing.at_base else None
    typical = _typical(runs)
    comparison = _comparison(standing_reference, wanted.bundles, typical)
    now = Today(suite=suite_for(config, loaded), tenant=config.tenant, target=config.target)
    anew = [recomputed(bundle, run.result) for bundle, run in zip(wanted.bundles, runs, strict=True)]
    against = refusals(
        runs,
        now,
        standing,
        recomputed=anew,
        comparison=comparison,
        replaces=replaces,
        reason=wanted.reason,
        allow_single=wanted.allow_single,
    )
    against += _contradicted([replace(run, result=result) for run, result in zip(runs, anew, strict=True)])
    baseline = None
    if all(refusal.code == "baseline_on_disk" for refusal in against):
        baseline = store.baseline_from(
            runs, typical, reason=wanted.reason, replaces=replaces, with_answers=wanted.with_answers
        )
        against = _against(baseline, replaces, standing, against)
    return Prepared(
        repository=repository,
        relpath=relpath,
        bundles=list(wanted.bundles),
        typical=typical,
        refusals=against,
        notes=promote.notes(runs, typical, now, with_answers=wanted.with_answers),
        comparison=comparison,
        replaces=replaces,
        baseline=None if against else baseline,
    )


def _contradicted(runs: Sequence[MeasuredRun]) -> list[Refusal]:
    """Runs whose checks are not what their answers give: lines edited together with the result."""
    return [
        Refusal(
            "not_reproducible",
            f"{run.result.run.id}: its checks are not what its answers give: {listed(found)}",
            "Restore the run's files, or measure again; a verdict is never edited.",
        )
        for run in runs
        if (found := contradictions(run))
    ]


def _against(
    baseline: Baseline, replaces: Baseline | None, standing: Standing, against: list[Refusal]
) -> list[Refusal]:
    """What still speaks against a baseline that could be made."""
    if replaces is not None and promote.is_the_same(baseline, replaces):
        what = f"{standing.path}: at {standing.base} these runs are the baseline already"
        return [
            Refusal("already_promoted", what, 'Nothing is left to do. Another reason for it: --reason "…"')
        ]
    # A promotion that was killed before its commit left the file behind.
    is_ours = standing.fault is None and standing.on_disk == store.dump(baseline).encode()
    return [] if is_ours else against


def _standing(
    repository: Repository, relpath: str, base: str, today: date
) -> tuple[Standing, Reference | None]:
    """The baseline as it stands, and as a reference where it can be read and verifies."""
    path = repository.root / relpath
    on_disk = read_bytes(path) if path.exists() else None
    at_base = repository.read(base, relpath)
    fault: TouchstoneError | None = None
    reference = None
    try:
        if on_disk is not None:
            _require_whole(on_disk, relpath)
        if at_base is not None:
            reference = baseline_reference(
                at_base, f"{base}:{relpath}", today, repository=repository, ref=base, relpath=relpath
            )
    except BadInputError as error:
        fault = error
    return Standing(path=relpath, base=base, on_disk=on_disk, at_base=at_base, fault=fault), reference


def _require_whole(content: bytes, relpath: str) -> None:
    """The baseline in the tree verifies, lies where it belongs, and is laid out as we write it."""
    baseline = store.parse(content, relpath)
    store.require_place(baseline, Path(relpath))
    damage = store.layout_damage(content, baseline, relpath)
    if damage is not None:
        raise damage


def _typical(runs: Sequence[MeasuredRun]) -> int:
    """The typical run where one can be chosen; runs that cannot be chosen from are refused anyway."""
    results = [run.result for run in runs]
    return 0 if selection_refusals(results) else select_typical(results).chosen


def _comparison(reference: Reference | None, bundles: Sequence[Bundle], typical: int) -> Comparison | None:
    """The runs against the baseline they would replace; null where there is none or no common ruler."""
    if reference is None:
        return None
    try:
        return compare(
            reference.side,
            runs_side(bundles, typical),
            reference=reference.info,
            candidate=candidate_info(bundles[typical], len(bundles)),
            renamed=renamed_models(bundles[typical]),
        )
    except TouchstoneError:
        return None  # another pack, tenant or target: the refusals say so
