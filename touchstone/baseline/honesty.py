"""What this suite can see: the line that keeps a quiet verdict honest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from touchstone.baseline.comparison import Honesty
from touchstone.baseline.finding import CASE_SUSPICION_P, SUSPICION_P, Limits
from touchstone.baseline.pairs import CellPair
from touchstone.baseline.statistics import (
    Z_FOUR_OF_FIVE,
    Error,
    Reach,
    cases_needed,
    detectable_case_drop,
    detectable_drop,
    even_error,
    paired_error,
    t_quantile,
)

WANTED_DROP = 3.0
CASES_MOST = 100_000


def honesty_of(cells: Sequence[CellPair], limits: Limits) -> Honesty | None:
    """The figures of the cell that sees least; null where nothing is compared."""
    seen = [_honesty(cell, limits) for cell in cells if cell.scored]
    if not seen:
        return None
    worst = max(seen, key=lambda found: (found.suite_drop is None, found.suite_drop or 0.0))
    worse, trials = leave_one_out(cells, limits)
    return worst.model_copy(update={"trials": trials, "trials_worse": worse})


def leave_one_out(cells: Sequence[CellPair], limits: Limits) -> tuple[int, int]:
    """(said worse, trials): each baseline run against the others, which nothing but chance tells apart.

    Only the suite's test in one shot. Nothing to try with fewer than three runs.
    """
    b = max((cell.b for cell in cells), default=0)
    if b < 3:
        return 0, 0
    alarms = [any(_alarm(cell, left_out, limits) for cell in cells) for left_out in range(b)]
    return sum(alarms), b


def _honesty(cell: CellPair, limits: Limits) -> Honesty:
    rows = len(cell.scored)
    known = cell.b > 1
    drop, case_drop, needed = _one_stage(cell, limits) if cell.deterministic else _two_stages(cell, limits)
    return Honesty(
        cases=rows,
        baseline_runs=cell.b,
        noise_per_case=math.sqrt(cell.pooled_variance) if known else None,
        suite_drop=drop if known else None,
        case_drop=case_drop if known else None,
        cases_for_3_points=needed if known else None,
    )


def _two_stages(cell: CellPair, limits: Limits) -> tuple[float, float | None, int | None]:
    reach = _reach(cell, limits)
    rows = len(cell.scored)
    case_drop = None if cell.suite.kind == "labelled" else detectable_case_drop(reach, rows)
    return detectable_drop(reach, rows), case_drop, cases_needed(reach, WANTED_DROP, CASES_MOST)


def _reach(cell: CellPair, limits: Limits) -> Reach:
    variances = [pair.old_spread.variance for pair in cell.scored]
    squares = math.fsum(variance**2 for variance in variances)
    share = math.fsum(variances) ** 2 / squares / len(variances) if squares else 1.0
    return Reach(
        variance=cell.pooled_variance,
        df_per_row=share * (cell.b - 1),
        b=cell.b,
        m=1 + limits.settings.confirm_runs,
        span=cell.span,
        allowance=cell.allowance,
        min_drop=limits.min_drop,
        case_drop=limits.case_drop,
        case_reruns=limits.settings.case_reruns,
        alpha=limits.alpha,
        suspicion=SUSPICION_P,
        case_suspicion=CASE_SUSPICION_P,
        q=limits.q,
    )


def _one_stage(cell: CellPair, limits: Limits) -> tuple[float | None, None, int | None]:
    """A deterministic cell: one test on the spread of the moves. Unknown while nothing moves."""
    if cell.error is None or cell.paired_sd == 0:
        return None, None, None
    needed = next(
        (rows for rows in _row_counts() if _one_stage_drop(cell, rows, limits) <= WANTED_DROP), None
    )
    return _one_stage_drop(cell, len(cell.scored), limits), None, needed


def _one_stage_drop(cell: CellPair, rows: int, limits: Limits) -> float:
    se = math.sqrt(cell.paired_sd**2 / rows + cell.allowance**2)
    error = Error(se, max(1, rows - 1))
    return max(t_quantile(1 - limits.alpha, error.df) * se, limits.min_drop) + Z_FOUR_OF_FIVE * se


def _row_counts() -> Iterator[int]:
    """2, 3 … in steps of about five percent, which is as exact as the figure is."""
    rows = 2
    while rows <= CASES_MOST:
        yield rows
        rows += max(1, rows // 20)


def _alarm(cell: CellPair, left_out: int, limits: Limits) -> bool:
    kept = [pair for pair in cell.scored if len(pair.old_pcts) == cell.b]
    if not kept:
        return False
    b, share = cell.b - 1, cell.b / (cell.b - 1)
    # What is left of a mean and a variance when one value is taken out.
    away = [pair.old_pcts[left_out] - pair.old_mean for pair in kept]
    moves = [value * share for value in away]
    variances = [
        max(0.0, pair.old_spread.variance * b - value * value * share) / (b - 1)
        for pair, value in zip(kept, away, strict=True)
    ]
    error = even_error(variances, b - 1, allowance=cell.allowance, b=b, m=1)
    paired = paired_error(moves, allowance=cell.allowance) if cell.deterministic else None
    if paired is not None and paired.se > error.se:
        error = paired
    difference = math.fsum(moves) / len(moves)
    return -difference >= limits.min_drop and error.p_drop(difference) <= limits.alpha
