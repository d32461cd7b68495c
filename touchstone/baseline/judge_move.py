"""Before "worse" is said from scores: whether today's judge gives the stored answers the same drop."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from touchstone.baseline.alarms import is_at_floor
from touchstone.baseline.evidence import Evidence
from touchstone.baseline.finding import Finding, Limits
from touchstone.baseline.pairs import CellPair, Pair, distinct_pcts
from touchstone.baseline.sides import RowKey
from touchstone.baseline.statistics import spread_of, t_quantile
from touchstone.result.schema import Row

CONTROL_P = 0.01


def worse_by_scores(found: Sequence[Finding]) -> list[Finding]:
    """The findings that say worse because a judge's scores do."""
    return [
        finding
        for finding in found
        if finding.outcome == "worse"
        and finding.rule in ("suite", "case", "floor")
        and finding.cell.suite.kind == "judged"
    ]


def rule_out_the_judge(
    found: Sequence[Finding], limits: Limits, evidence: Evidence, stored: Collection[RowKey]
) -> None:
    """Before "worse" from scores: did today's judge give the stored answers the same drop?

    Where it could have seen them and a limit left that out, nothing is said but suspect.
    """
    seen = {row.key for row in evidence.control}
    rows = {row.key: row for row in evidence.control if row.pct is not None}
    control = {key: row.pct for key, row in rows.items() if row.pct is not None}
    for finding in worse_by_scores(found):
        if evidence.given_up and any(key in stored and key not in seen for key in _old_keys(finding.cell)):
            finding.outcome, finding.confirmed, finding.judge_due = "open", False, True
            continue
        moved = judge_move(finding.cell, control)
        if moved is None:
            continue
        finding.judge_ruled_out = True
        finding.judge_moved = moved.at_least > 0 and moved.drop >= limits.judge_move
        if finding.rule == "floor":
            explained = is_at_floor(_control_of(finding.cell, rows), finding.cell.suite)
        else:
            explained = _judge_explains(finding, moved, control, limits)
        if finding.judge_moved and explained:
            finding.outcome, finding.confirmed = "judge_moved", False


@dataclass(frozen=True, slots=True)
class JudgeMove:
    """How much lower today's judge scores the same answers; `at_least` is the 99 % lower bound."""

    drop: float
    at_least: float
    se: float


def judge_move(cell: CellPair, control: dict[tuple[str, str, str], float]) -> JudgeMove | None:
    """The judge's own drop on a cell's stored answers; null where they were not judged again."""
    drops = []
    for pair in cell.scored:
        now = control.get((cell.old_model, *pair.key[1:]))
        if now is not None and pair.shown.pct is not None:
            drops.append(pair.shown.pct - now)
    if len(drops) < 2:
        return None
    mean = math.fsum(drops) / len(drops)
    se = math.sqrt(spread_of(drops).variance / len(drops))
    return JudgeMove(mean, mean - t_quantile(1 - CONTROL_P, len(drops) - 1) * se, se)


def _old_keys(cell: CellPair) -> list[RowKey]:
    """The rows the cell's difference rests on, under the baseline's names."""
    return [pair.shown.key for pair in cell.scored]


def _control_of(cell: CellPair, rows: dict[RowKey, Row]) -> list[Row]:
    """The cell's stored answers as today's judge scores them."""
    keys = [(cell.old_model, *pair.key[1:]) for pair in cell.pairs]
    return [rows[key] for key in keys if key in rows]


def _judge_explains(
    finding: Finding, moved: JudgeMove, control: dict[tuple[str, str, str], float], limits: Limits
) -> bool:
    cell, pair = finding.cell, finding.pair
    if pair is None:
        return not _drop_remains(cell, moved, limits)
    now = control.get((cell.old_model, *pair.key[1:]))
    return now is not None and now - min(now, _fresh_mean(pair)) < limits.case_drop


def _drop_remains(cell: CellPair, moved: JudgeMove, limits: Limits) -> bool:
    """Against the baseline as today's judge would score it."""
    if cell.difference is None or cell.error is None:
        return False
    left = cell.difference + moved.drop
    error = type(cell.error)(math.hypot(cell.error.se, moved.se), min(cell.error.df, len(cell.scored) - 1))
    return -left >= limits.min_drop and error.p_drop(left) <= limits.alpha


def _fresh_mean(pair: Pair) -> float:
    pcts = distinct_pcts(pair.fresh or [pair.first])
    return math.fsum(pcts) / len(pcts)
