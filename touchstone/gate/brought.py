"""A baseline that the change under test brings along, read from the commits and verified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from touchstone.baseline import store
from touchstone.baseline.brought import strayed, unexplained
from touchstone.baseline.compare import compare
from touchstone.baseline.comparison import CandidateInfo, Comparison
from touchstone.baseline.schema import Baseline
from touchstone.baseline.sides import RowKey
from touchstone.errors import ExitCode, RefusedError
from touchstone.gate.base import Base
from touchstone.gate.compared import without_reference
from touchstone.gate.recheck import require_true
from touchstone.gate.reference import Reference, baseline_reference
from touchstone.git import Repository
from touchstone.pack.suite import Suite


@dataclass(frozen=True)
class Brought:
    """A baseline of the change, and the one of the base that it would replace; null where that has none.

    `unexplained` are the codes of what it accepts without giving a reason.
    """

    baseline: Baseline
    own: Reference
    old: Reference | None
    comparison: Comparison
    """Old → new, as three draws against three; nothing is measured for it."""
    unexplained: list[str]

    def answers(self) -> dict[RowKey, tuple[list[str], list[str]]]:
        """Both baselines' answers of every row both keep them of."""
        before = (self.old.side.answers if self.old else None) or {}
        now = self.own.side.answers or {}
        return {key: (before[key], list(now[key])) for key in now if key in before}

    def verdict(self) -> Comparison:
        """The comparison of a change that is nothing but this promotion."""
        if not self.unexplained:
            worse = self.comparison.status == "worse"
            told = {"status": "promotion", "exit": 0, "accepted": self.baseline.reason if worse else None}
            return self.comparison.model_copy(update=told)
        if "worse" in self.unexplained:
            return self.comparison
        refused = {"status": "refused", "exit": int(ExitCode.REFUSED), "reason": "unexplained"}
        return self.comparison.model_copy(update=refused)


def brought_baseline(
    repository: Repository,
    base: Base,
    relpath: str,
    suite: Suite,
    *,
    renamed: Mapping[str, str],
    today: date,
) -> Brought | None:
    """The baseline at `relpath` as the change has it; None where the change leaves it alone or deletes it.

    `suite` is the tree's, `renamed` maps a model's old name to its new one. BadInputError for a file that
    was edited or lies at another's place, RefusedError for one that is not of this base and this tree.
    """
    content = repository.read(base.tested, relpath)
    before = repository.read(base.commit, relpath)
    if content is None or content == before:
        return None
    own = _reference(repository, base.tested, relpath, content, today)
    baseline = store.parse(content, own.info.file)
    store.require_place(baseline, Path(relpath))
    old = None if before is None else _reference(repository, base.commit, relpath, before, today)
    replaced = None if before is None or old is None else store.parse(before, old.info.file)
    faults = strayed(baseline, replaced, suite)
    if faults:
        raise RefusedError(
            f"{own.info.file}: a baseline that does not belong here:\n  " + "\n  ".join(faults[:_FAULTS_MAX]),
            "Measure what this change holds and promote it anew: touchstone measure --times 3, then "
            "touchstone promote RUN RUN RUN",
        )
    require_true(baseline, own.info.file)
    comparison = _old_to_new(old, own, baseline, renamed)
    return Brought(baseline, own, old, comparison, unexplained(baseline, comparison))


_FAULTS_MAX = 8


def _reference(repository: Repository, ref: str, relpath: str, content: bytes, today: date) -> Reference:
    source = f"{ref[:12]}:{relpath}"
    return baseline_reference(content, source, today, repository=repository, ref=ref, relpath=relpath)


def _old_to_new(
    old: Reference | None, own: Reference, baseline: Baseline, renamed: Mapping[str, str]
) -> Comparison:
    typical = next(run for run in baseline.runs if run.typical)
    candidate = CandidateInfo(
        run=typical.id, commit=baseline.git.commit, clean=baseline.git.clean, draws=len(baseline.runs)
    )
    if old is None:
        return without_reference(own.side, candidate, required=False)
    return compare(old.side, own.side, reference=old.info, candidate=candidate, renamed=dict(renamed))
