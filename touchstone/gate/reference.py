"""The reference of a run: which baseline a local comparison is held against, read from git.

Never the working tree: what a person is about to change is not what was agreed to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from touchstone.baseline import store
from touchstone.baseline.comparison import CandidateInfo, ReferenceInfo
from touchstone.baseline.schema import Baseline
from touchstone.baseline.sides import Side, side_of_baseline, side_of_runs
from touchstone.config import Config
from touchstone.errors import BadInputError
from touchstone.files import read_bytes
from touchstone.gate.runs import manifest_of, stored_result
from touchstone.git import Repository
from touchstone.run.bundle import Bundle


@dataclass(frozen=True)
class Reference:
    """A side to be held against, and what a reader is told of it."""

    side: Side
    info: ReferenceInfo


def agreed_reference(config: Config, root: Path, pack: str, today: date) -> Reference | None:
    """The committed baseline of a pack: at the merge base with the default branch, else at HEAD.

    None where neither commit has the file. BadInputError where it cannot be read.
    """
    path = store.path_of(root / config.baselines_dir, config.tenant, pack, config.target)
    repository = Repository.open(root)
    if repository is None or repository.head() is None:
        return None
    relpath = repository.relative(path)
    for ref in _agreed_refs(repository):
        content = repository.read(ref, relpath)
        if content is not None:
            return baseline_reference(
                content, f"{ref[:12]}:{relpath}", today, repository=repository, ref=ref, relpath=relpath
            )
    return None


def committed_reference(config: Config, root: Path, pack: str, today: date, ref: str) -> Reference | None:
    """The baseline of a pack as it is at a commit; None where that commit has none.

    BadInputError where there is no such commit here, or the file cannot be read.
    """
    repository = Repository.open(root)
    if repository is None:
        raise BadInputError(
            f"{root}: not a git repository, so there is no {ref}", "Leave out --baseline-from."
        )
    path = store.path_of(root / config.baselines_dir, config.tenant, pack, config.target)
    relpath = repository.relative(path)
    content = repository.read(ref, relpath)
    if content is None:
        return None
    source = f"{_short(ref)}:{relpath}"
    return baseline_reference(content, source, today, repository=repository, ref=ref, relpath=relpath)


def named_reference(name: str, root: Path, cwd: Path, today: date) -> Reference | None:
    """A baseline named as a file or as REF:PATH; None where the name is neither."""
    path = cwd / name
    if path.is_file() and path.suffix == ".json":
        return baseline_reference(read_bytes(path), name, today)
    ref, colon, relpath = name.partition(":")
    repository = Repository.open(root)
    if not colon or repository is None:
        return None
    content = repository.read(ref, relpath)
    if content is None:
        raise BadInputError(
            f"{name}: {ref} has no such file", f"See what it has: git ls-tree -r --name-only {ref}"
        )
    return baseline_reference(content, name, today, repository=repository, ref=ref, relpath=relpath)


def baseline_reference(
    content: bytes,
    source: str,
    today: date,
    *,
    repository: Repository | None = None,
    ref: str = "HEAD",
    relpath: str = "",
) -> Reference:
    """A baseline's content as a reference, verified; who approved it is read from git where it lies there."""
    baseline = store.parse(content, source)
    log = repository.log(relpath, ref, limit=1) if repository else []
    return Reference(
        side_of_baseline(baseline), _info(baseline, source, log[0].author if log else None, today)
    )


def run_reference(bundles: Sequence[Bundle]) -> Reference:
    """Runs as a reference: two runs are compared without any baseline."""
    side = runs_side(bundles)
    info = ReferenceInfo(
        file=bundles[0].id,
        digest=None,
        day=side.day,
        commit=side.git.commit,
        runs=len(bundles),
        approved_by=None,
        age_days=None,
    )
    return Reference(side, info)


def runs_side(bundles: Sequence[Bundle], typical: int = 0, *, with_answers: bool = True) -> Side:
    """Runs as a side of a comparison, with the typical one's answers where they are wanted."""
    return side_of_runs(
        [stored_result(bundle) for bundle in bundles],
        [manifest_of(bundle) for bundle in bundles],
        bundles[typical].answers() if with_answers else None,
        typical,
    )


def candidate_info(bundle: Bundle, draws: int) -> CandidateInfo:
    """What a reader is told of the run under test."""
    git = bundle.manifest.git
    return CandidateInfo(run=bundle.id, commit=git.commit, clean=git.clean, draws=draws)


def _short(ref: str) -> str:
    return ref[:12] if re.fullmatch("[0-9a-f]{40,64}", ref) else ref


def _agreed_refs(repository: Repository) -> list[str]:
    head, default = repository.resolve("HEAD"), repository.default_ref()
    base = repository.merge_base(head, default) if default else None
    if base is None and repository.remote() is not None and repository.is_shallow():
        # What was cut off may hold the agreed baseline; HEAD's own may be the change under test.
        raise BadInputError(
            "the default branch is not in this shallow clone, so nothing agreed to can be read",
            "Fetch it (git fetch --depth=1 origin main:refs/remotes/origin/main) and name it: "
            "--baseline-from origin/main",
        )
    return [ref for ref in dict.fromkeys([base, head]) if ref is not None]


def _info(baseline: Baseline, source: str, author: str | None, today: date) -> ReferenceInfo:
    return ReferenceInfo(
        file=source,
        digest=baseline.digest,
        day=baseline.date,
        commit=baseline.git.commit,
        runs=len(baseline.runs),
        approved_by=author,
        age_days=(today - date.fromisoformat(baseline.date)).days,
    )
