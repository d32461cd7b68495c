"""Single rows: whose score fell, and whose check fails that passed in every baseline run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from touchstone.baseline.finding import CASE_SUSPICION_P, Finding, Limits, Outcome, further_draws
from touchstone.baseline.pairs import CellPair, Pair, dimension_means, distinct_pcts
from touchstone.baseline.statistics import benjamini_hochberg, check_reruns
from touchstone.pack.suite import Suite
from touchstone.result.schema import Row

ROUNDING = 1e-4


@dataclass(frozen=True, slots=True)
class Reruns:
    """Fresh draws that must all agree, by how many rows could fall by chance; null: more than is worth it."""

    check: int | None
    step: int | None
    """For rows whose score knows hardly more than two values."""


def reruns_of(cells: Sequence[CellPair], limits: Limits) -> Reruns:
    """How many draws a row takes in these cells together."""
    b = max((cell.b for cell in cells), default=1)
    varying = [(cell, pair) for cell in cells for pair in cell.pairs if not pair.fixed]
    least, limit = limits.settings.case_reruns, limits.check_limit
    return Reruns(
        check=check_reruns(sum(bool(pair.checks) for _, pair in varying), b, least, limit),
        step=check_reruns(sum(pair.counted for _, pair in varying), b, least, limit),
    )


# Scores


def fallen_rows(cells: Sequence[CellPair], limits: Limits, reruns: Reruns) -> list[Finding]:
    """Rows whose score fell, in the order of the cells; how many rows were looked at is made up for."""
    found = [finding for cell in cells for finding in _fallen_of(cell, limits, reruns)]
    chosen = benjamini_hochberg(
        [finding.p if finding.outcome == "worse" and finding.p is not None else 1.0 for finding in found],
        limits.q,
        of=sum(len(cell.pairs) for cell in cells),
    )
    for finding, stands in zip(found, chosen, strict=True):
        if finding.outcome == "worse" and not stands:
            finding.outcome, finding.confirmed = "cleared", False
    return found


def _fallen_of(cell: CellPair, limits: Limits, reruns: Reruns) -> Iterator[Finding]:
    kind = cell.suite.kind
    if kind == "labelled" or cell.b == 1:
        return
    for pair in cell.scored:
        copies = cell.deterministic or pair.fixed
        if pair.difference > -limits.case_drop or (copies and not limits.settings.strict_rows):
            continue
        if kind == "checks" and _is_flaky(pair):
            continue
        p = cell.row_error(pair).p_drop(pair.difference)
        if p <= CASE_SUSPICION_P:
            yield _strict_row(cell, pair, p) if copies else _fallen_row(cell, pair, limits, reruns, p)


def _strict_row(cell: CellPair, pair: Pair, p: float) -> Finding:
    below = (pair.first.pct or 0.0) < min(pair.old_pcts)
    outcome: Outcome = "worse" if below else "cleared"
    return Finding("case", cell, pair, outcome, detail=_points(pair), p=p, reason="case_fell")


def _fallen_row(cell: CellPair, pair: Pair, limits: Limits, reruns: Reruns, p: float) -> Finding:
    """A row that varies between draws: all fresh draws must lie below all of the baseline's."""
    finding = Finding("case", cell, pair, "stuck", detail=_points(pair), p=p, reason="case_fell")
    fresh = [row for row in pair.fresh if row.pct is not None]
    if any(row.pct is not None and row.pct >= min(pair.old_pcts) for row in fresh):
        finding.outcome = "cleared"
        return finding
    times: int | None = limits.settings.case_reruns
    if cell.suite.kind == "checks":
        times = reruns.check
    elif len(fresh) >= limits.settings.case_reruns and _is_one_step(cell.suite, pair, limits):
        times = reruns.step
    if times is not None and len(fresh) < times:
        finding.outcome, finding.needs = "open", further_draws([pair], times - len(fresh))
    elif times is not None:
        _settle_row(finding, limits, distinct_pcts([pair.first, *fresh])[1:], times)
    return finding


def _is_one_step(suite: Suite, pair: Pair, limits: Limits) -> bool:
    """A single level of a single dimension explains the fall: as good as a check that fails."""
    asked = suite.cases[pair.key[2]].rubric
    weights = [suite.weights[dimension] for dimension in asked.dimensions]
    step = 100 * max(weights) / ((suite.scale_max or 1) * sum(weights) * asked.repeats)
    highest = max(row.pct for row in pair.new if row is not None and row.pct is not None)
    return step >= limits.case_drop and min(pair.old_pcts) - highest <= step + ROUNDING


def _settle_row(finding: Finding, limits: Limits, pcts: Sequence[float], times: int) -> None:
    """Enough fresh draws are below; copies of one answer count once, so they may still be too few."""
    pair = finding.pair
    if pair is None or len(pcts) < times:
        return
    fall = math.fsum(pcts) / len(pcts) - pair.old_mean
    finding.p = finding.cell.row_error(pair, len(pcts)).p_drop(fall)
    worse = fall <= -limits.case_drop
    finding.outcome, finding.confirmed = ("worse", True) if worse else ("cleared", False)


def tolerances(cell: CellPair) -> Iterator[Finding]:
    """One baseline run: noise is unknown, so a dimension or check that fell beyond its tolerance is
    listed; nothing can confirm it."""
    if cell.b > 1:
        return
    for pair in cell.pairs:
        fallen = _beyond_tolerance(cell.suite, pair) if pair.scored and not pair.same_answer else None
        if fallen is not None:
            yield Finding("case", cell, pair, "stuck", detail=fallen, reason="dimension_fell")


def _beyond_tolerance(suite: Suite, pair: Pair) -> str | None:
    before, after = dimension_means(pair.shown), dimension_means(pair.first)
    for dimension, value in before.items():
        line = suite.rules.dimensions.get(dimension)
        if line and dimension in after and value - after[dimension] > line.tolerance:
            return dimension
    return None


def _points(pair: Pair) -> str:
    return f"{pair.difference:.1f}"


# Checks


def flipped_checks(cell: CellPair, reruns: int | None) -> Iterator[Finding]:
    """Checks that passed in every baseline run and fail now. `reruns`: fresh draws that must all fail."""
    for pair in cell.pairs:
        if pair.first.state == "fail":
            for id_ in pair.checks:
                if _fails(pair.first, id_) and not any(_fails(row, id_) for row in pair.old):
                    yield _flipped(cell, pair, id_, reruns)


def _flipped(cell: CellPair, pair: Pair, id_: str, reruns: int | None) -> Finding:
    finding = Finding("check", cell, pair, "stuck", detail=id_, reason="check_flip")
    fresh = [row for row in pair.fresh if row.state is not None]
    if any(not _fails(row, id_) for row in fresh):
        finding.outcome = "cleared"
    elif reruns is not None and len(fresh) >= reruns:
        # Copies count here: that the same wrong answer comes back is what the question was.
        finding.outcome, finding.confirmed = "worse", True
    else:
        finding.needs = further_draws([pair], (reruns or 0) - len(fresh))
        # Where no answer ever varied, one is as good as many: a fact, unless asking again says otherwise.
        finding.outcome = "worse" if cell.all_fixed else "open" if finding.needs else "stuck"
    return finding


def _fails(row: Row, id_: str) -> bool:
    """Whether the check fails on any repeat."""
    return any(id_ in repeat.checks and repeat.checks[id_].status == "fail" for repeat in row.repeats)


def _is_flaky(pair: Pair) -> bool:
    """A check of the row failed in a baseline draw: it counts only in the suite."""
    return any(_fails(row, id_) for row in pair.old for id_ in pair.checks)
