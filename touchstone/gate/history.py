"""A baseline's history: what was agreed to at each commit of its file, read from git."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from touchstone.baseline import store
from touchstone.baseline.compare import compare
from touchstone.baseline.comparison import CandidateInfo, ReferenceInfo
from touchstone.baseline.schema import Baseline
from touchstone.baseline.sides import side_of_baseline
from touchstone.config import Config
from touchstone.errors import BadInputError, TouchstoneError
from touchstone.git import Logged, Repository
from touchstone.records import Record


class AgreedCell(Record):
    """A cell's number at one commit."""

    model: str
    variant: str
    pct: float | None
    level: str | None
    safety: bool | None
    prompt_sha256: str | None


class Agreed(Record):
    """One commit of a baseline's file.

    `reason` is the promotion's, null where none was given. `trials` of its own runs were held against the
    others, `trials_worse` of them read worse. `fault` says why the file of that commit cannot be read, or
    that it was removed; the rest is empty then.
    """

    commit: str
    date: str
    author: str
    subject: str
    reason: str | None = None
    measured: str | None = None
    runs: int = 0
    cells: list[AgreedCell] = []
    trials: int = 0
    trials_worse: int = 0
    fault: str | None = None


class History(Record):
    """The commits of one pack's baseline, newest first."""

    pack: str
    file: str
    commits: list[Agreed]


def history_of(config: Config, root: Path, pack: str, limit: int | None = None) -> History | None:
    """What was agreed to for a pack, up to HEAD; None where no commit has its baseline.

    Raises BadInputError outside a git repository.
    """
    repository = Repository.open(root)
    if repository is None:
        raise BadInputError(f"{root}: not a git repository, so baselines have no history", "git init")
    path = store.path_of(root / config.baselines_dir, config.tenant, pack, config.target)
    relpath = repository.relative(path)
    logged = repository.log(relpath, limit=limit)
    if not logged:
        if repository.is_shallow() and repository.read("HEAD", relpath) is not None:
            raise BadInputError(
                f"{relpath}: this shallow clone does not hold the commits that agreed to it",
                "Fetch them: git fetch --unshallow",
            )
        return None
    return History(pack=pack, file=relpath, commits=[_agreed(repository, relpath, one) for one in logged])


def _agreed(repository: Repository, relpath: str, logged: Logged) -> Agreed:
    about = {
        "commit": logged.commit,
        "date": logged.day,
        "author": logged.author,
        "subject": logged.subject,
    }
    try:
        content = repository.read(logged.commit, relpath)
        if content is None:
            return Agreed(**about, fault="removed")
        baseline = store.parse(content, f"{logged.commit[:12]}:{relpath}")
    except TouchstoneError as error:
        return Agreed(**about, fault=error.message.splitlines()[0])
    trials, worse = _trials(baseline)
    return Agreed(
        **about,
        reason=baseline.reason,
        measured=baseline.date,
        runs=len(baseline.runs),
        cells=_cells(baseline),
        trials=trials,
        trials_worse=worse,
    )


def _cells(baseline: Baseline) -> list[AgreedCell]:
    return [
        AgreedCell(
            model=cell.model,
            variant=cell.variant,
            pct=cell.quality.pct,
            level=cell.quality.rubric_level,
            safety=cell.quality.safety_passed,
            prompt_sha256=baseline.variants[cell.variant].sha256,
        )
        for cell in baseline.cells
    ]


def _trials(baseline: Baseline) -> Sequence[int]:
    """(trials, how often worse): its own runs, each held against the others."""
    side = side_of_baseline(baseline)
    itself = ReferenceInfo(
        file="", digest=None, day=None, commit=None, runs=len(side.draws), approved_by=None, age_days=None
    )
    candidate = CandidateInfo(run="", commit=None, clean=None, draws=len(side.draws))
    honesty = compare(side, side, reference=itself, candidate=candidate).honesty
    return (honesty.trials, honesty.trials_worse) if honesty else (0, 0)
