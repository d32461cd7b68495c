"""Scores: from what was said of single answers to rows and cells.

The one place that computes a pct. Thresholds are always those of the suite handed in, so the same rows
can be read under today's rules or under a baseline's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from touchstone.judge.records import CheckStatus
from touchstone.pack.checks import LABEL_CHECK
from touchstone.pack.suite import Suite
from touchstone.result.asked import Asked, CheckLine, asked_of
from touchstone.result.dimensions import dim_means, dim_scores
from touchstone.result.numbers import mean
from touchstone.result.rows import repeats_of
from touchstone.result.safety import passes_ko, red_flags
from touchstone.result.schema import (
    CheckScore,
    Counts,
    ModelReport,
    Repeat,
    Row,
    RowState,
    RubricLevel,
    Tally,
)

LEVELS: tuple[tuple[float, RubricLevel], ...] = ((85.0, "hoch"), (70.0, "solide"), (50.0, "teilweise"))
"""Lower bounds, inclusive; below the last one it is "ungenügend"."""


def score_rows(rows: Iterable[Row], suite: Suite) -> list[Row]:
    """The rows read under the suite's rules: status of each check, pct, state, below_line.

    Only scores, labels and verdicts are read; whatever the rows said before of those four is replaced.
    A row of a prompt the suite does not know stays as it is.
    """
    asked = asked_of(suite, suite.cases)
    return [_scored_row(row, asked[row.prompt]) if row.prompt in asked else row for row in rows]


def row_pct(row: Row, suite: Suite) -> float | None:
    """A row's pct, 0…100; null while a repeat is open, or if one is unscored or failed.

    With dimensions: the weighted share of the scale's maximum over the dimensions asked of this prompt.
    Without: the weighted share of the check scores, the class counting as a check of weight 1. Either
    way the mean over the repeats.
    """
    return _pct(row.repeats, asked_of(suite, [row.prompt])[row.prompt])


def cell_quality(rows: Sequence[Row], suite: Suite) -> ModelReport:
    """The quality of one cell, from its scored rows."""
    means = dim_means(rows)
    pct = _cell_pct(rows, suite, means)
    passed, reasons = passes_ko(rows, suite)
    return ModelReport(
        dim_scores=dim_scores(means),
        dim_means=means,
        pct=pct,
        rubric_level=rubric_level(pct) if pct is not None and suite.kind == "judged" else None,
        safety_passed=passed,
        safety_reason=reasons,
        red_flags=red_flags(rows),
        checks=_tally(rows),
    )


def rubric_level(pct: float) -> RubricLevel:
    """The level of a pct that was not rounded for printing."""
    for bound, level in LEVELS:
        if pct >= bound:
            return level
    return "ungenügend"


def cell_counts(rows: Sequence[Row]) -> Counts:
    """The samples and rows of one cell by outcome, from its scored rows."""
    repeats = repeats_of(rows)
    statuses = [repeat.status for repeat in repeats]
    verdicts = [repeat.verdict for repeat in repeats]
    states = [row.state for row in rows]
    return Counts(
        planned=len(repeats),
        answered=sum(status not in (None, "error") for status in statuses),
        judged=verdicts.count("judged"),
        rows=len(rows),
        passed=states.count("pass"),
        failed=states.count("fail"),
        error=states.count("error"),
        unscored=verdicts.count("unscored"),
        empty=statuses.count("empty"),
        reasoning_only=statuses.count("reasoning_only"),
        truncated=statuses.count("truncated"),
        below_line=below_line(rows),
    )


def below_line(rows: Iterable[Row]) -> int | None:
    """How many of the scored rows are below the line; null where no row has a score."""
    known = [row.below_line for row in rows if row.below_line is not None]
    return sum(known) if known else None


def _scored_row(row: Row, asked: Asked) -> Row:
    repeats = [_with_check_status(repeat, asked) for repeat in row.repeats]
    pct = _pct(repeats, asked)
    below = None if pct is None else _is_below_line(repeats, asked)
    return row.replaced(repeats=repeats, pct=pct, below_line=below, state=_state(repeats, below))


def _with_check_status(repeat: Repeat, asked: Asked) -> Repeat:
    checks = {id_: _under_line(check, asked.checks.get(id_)) for id_, check in repeat.checks.items()}
    if asked.label is not None and repeat.verdict in ("judged", "error"):
        checks[LABEL_CHECK] = _label_check(repeat.label, asked.label)
    return repeat if checks == repeat.checks else repeat.replaced(checks=checks)


def _under_line(check: CheckScore, line: CheckLine | None) -> CheckScore:
    if check.score is None or line is None:
        return check
    status: CheckStatus = "pass" if check.score >= line.threshold else "fail"
    return check if check.status == status else CheckScore(status=status, score=check.score)


def _label_check(label: str | None, expected: str) -> CheckScore:
    if label is None:
        return CheckScore(status="error", score=None)
    right = label == expected
    return CheckScore(status="pass" if right else "fail", score=float(right))


def _pct(repeats: Sequence[Repeat], asked: Asked) -> float | None:
    shares = [_share(repeat, asked) for repeat in repeats]
    known = [share for share in shares if share is not None]
    return mean([100 * share for share in known]) if known and len(known) == len(shares) else None


def _share(repeat: Repeat, asked: Asked) -> float | None:
    """The share 0…1 of what this answer could get; null unless everything asked for is there."""
    if repeat.verdict != "judged" or repeat.status in (None, "error"):
        return None
    checks = _check_scores(repeat, asked)
    if checks is None or not asked.weights.keys() <= repeat.scores.keys():
        return None
    if asked.weights and asked.scale_max:
        got = math.fsum(weight * repeat.scores[dimension] for dimension, weight in asked.weights.items())
        return got / (asked.scale_max * math.fsum(asked.weights.values()))
    if not checks:
        return None
    return math.fsum(weight * score for weight, score in checks) / math.fsum(weight for weight, _ in checks)


def _check_scores(repeat: Repeat, asked: Asked) -> list[tuple[float, float]] | None:
    """(weight, score) of every check that counts; null if one of them has no score."""
    found = [(line.weight, repeat.checks.get(id_)) for id_, line in asked.checks.items()]
    if asked.label is not None:
        found.append((1.0, _label_check(repeat.label, asked.label)))
    scores = [(weight, check.score) for weight, check in found if check and check.score is not None]
    return scores if len(scores) == len(found) else None


def _is_below_line(repeats: Sequence[Repeat], asked: Asked) -> bool:
    for dimension, line in asked.lines.items():
        if mean([repeat.scores[dimension] for repeat in repeats]) < line:
            return True
    # A label is a check too: the wrong class is below its line.
    counting = {*asked.checks, LABEL_CHECK}
    return any(
        check.status == "fail"
        for repeat in repeats
        for id_, check in repeat.checks.items()
        if id_ in counting
    )


def _state(repeats: Sequence[Repeat], below: bool | None) -> RowState | None:
    if any(repeat.verdict is None for repeat in repeats):
        return None
    if below is None:
        return "error"
    return "fail" if below else "pass"


def _cell_pct(rows: Sequence[Row], suite: Suite, means: Mapping[str, float]) -> float | None:
    """Mean of the row pcts there are; null if a dimension was asked for and nobody scored it.

    Where a judge scores, rows that it is not asked about stand beside the pct, not in it.
    """
    if suite.kind == "judged":
        rows = [row for row in rows if suite.cases[row.prompt].rubric.dimensions]
    asked = {dimension for row in rows for dimension in suite.cases[row.prompt].rubric.dimensions}
    pcts = [row.pct for row in rows if row.pct is not None]
    return mean(pcts) if pcts and asked <= means.keys() else None


def _tally(rows: Sequence[Row]) -> Tally:
    """Checks that could be run, one per answer; the class counts as one."""
    statuses = [check.status for repeat in repeats_of(rows) for check in repeat.checks.values()]
    return Tally(passed=statuses.count("pass"), of=statuses.count("pass") + statuses.count("fail"))
