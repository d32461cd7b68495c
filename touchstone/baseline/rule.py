"""The verdict rule (design 5.2): what a run raises suspicion of, and what a second measurement settles.

Five rules look at the shared rows: `suite` (a cell fell), `case` (a row fell), `check` (a check that
passed in every baseline run fails), `flag` (a red flag where no baseline run had one), `floor` (the
knock-out dimension fell to its threshold). Each finding says how it stands and what could still be
measured about it. Nothing here is random: equal sides give equal findings.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from touchstone.baseline.evidence import Evidence, Measure
from touchstone.baseline.pairs import (
    USUAL_SPAN,
    CellPair,
    Pair,
    dimension_means,
    distinct_pcts,
    span_of,
)
from touchstone.baseline.sides import RowKey
from touchstone.baseline.statistics import (
    benjamini_hochberg,
    check_reruns,
    spread_of,
    t_quantile,
)
from touchstone.config import CompareSettings
from touchstone.pack.suite import Suite
from touchstone.result.safety import passes_ko
from touchstone.result.schema import Row

SUSPICION_P = 0.10
CASE_SUSPICION_P = 0.05
CONTROL_P = 0.01
ROUNDING = 1e-4
JUDGE_MOVE = 1.0
"""Points (for the usual span) today's judge must differ from the stored verdicts to be called moved."""

Rule = Literal["suite", "case", "check", "flag", "floor"]
Outcome = Literal["worse", "open", "stuck", "cleared", "judge_moved"]


@dataclass(frozen=True, slots=True)
class Limits:
    """The settings of the baseline in points of this suite's span, the false-alarm budget shared out.

    Of `false_alarm` (1 %), the suite test gets 0.4 and what is obvious after one draw 0.02, both divided by
    the cells, checks 0.3; rows are held to a false discovery rate of three times it, divided by the cells, on
    fresh draws.
    """

    settings: CompareSettings
    suspect_drop: float
    min_drop: float
    obvious_drop: float
    case_drop: float
    equal_margin: float
    judge_move: float
    alpha: float
    obvious_p: float
    q: float
    check_limit: float


def limits_of(suite: Suite, cells: int) -> Limits:
    """The limits for a comparison of so many cells under the baseline's settings."""
    settings = suite.rules.compare
    scale = span_of(suite) / USUAL_SPAN
    share = max(1, cells)
    return Limits(
        settings=settings,
        suspect_drop=settings.suspect_drop * scale,
        min_drop=settings.min_drop * scale,
        obvious_drop=settings.obvious_drop * scale,
        case_drop=settings.case_drop * scale,
        equal_margin=settings.equal_margin * scale,
        judge_move=JUDGE_MOVE * scale,
        alpha=0.4 * settings.false_alarm / share,
        obvious_p=0.02 * settings.false_alarm / share,
        q=3 * settings.false_alarm / share,
        check_limit=0.3 * settings.false_alarm,
    )


@dataclass(eq=False)
class Finding:
    """One suspicion and how it stands.

    `outcome`: worse · open (`needs` would settle it) · stuck (nothing would, or what was measured did not)
    · cleared · judge_moved. `confirmed`: a second measurement agreed, or it is a fact that needs none.
    `detail` is a check's id, a dimension's id or a count such as `1/5`, as the rule says.
    """

    rule: Rule
    cell: CellPair
    pair: Pair | None
    outcome: Outcome
    confirmed: bool = False
    detail: str = ""
    p: float | None = None
    reason: str = ""
    needs: list[Measure] = field(default_factory=list)
    prompt: str | None = None
    """Of a row that is not compared."""
    judge_ruled_out: bool = False
    """Today's judge has seen the cell's stored answers again."""
    judge_moved: bool = False
    """… and scores them lower, whether or not that explains everything."""


def findings_of(cells: Sequence[CellPair], limits: Limits, evidence: Evidence) -> list[Finding]:
    """Every suspicion the candidate's first run raises, with what the later draws make of it."""
    reruns = _reruns(cells, limits)
    found: list[Finding] = []
    for cell in cells:
        found += _suite(cell, limits)
        found += _checks(cell, reruns.check)
        found += _flags(cell, limits, evidence)
        found += _floor(cell, evidence)
        found += _tolerances(cell)
    flipped = {finding.pair for finding in found if finding.rule == "check"}
    found += [
        finding
        for finding in _cases(cells, limits, reruns)
        # Where checks are all the score there is, their own rule decides.
        if finding.cell.suite.kind == "judged" or finding.pair not in flipped
    ]
    _spare_the_obvious(found, limits)
    _control(found, limits, evidence)
    return found


def _spare_the_obvious(found: Sequence[Finding], limits: Limits) -> None:
    """Nothing is asked again to blame single rows of a cell that obviously fell."""
    obvious = [finding.cell for finding in found if finding.rule == "suite" and _is_obvious(finding, limits)]
    for finding in found:
        if finding.rule == "case" and finding.outcome == "open" and finding.cell in obvious:
            finding.outcome, finding.needs = "stuck", []


# The suite


def _is_obvious(finding: Finding, limits: Limits) -> bool:
    drop = -(finding.cell.difference or 0.0)
    convicts = finding.outcome == "worse" and finding.p is not None and finding.p <= limits.obvious_p
    return convicts and drop >= limits.obvious_drop


def _suite(cell: CellPair, limits: Limits) -> Iterator[Finding]:
    if cell.difference is None or cell.error is None:
        return
    drop, p = -cell.difference, cell.error.p_drop(cell.difference)
    convicts = drop >= limits.min_drop and p <= limits.alpha
    suspicious = drop >= limits.suspect_drop and p <= SUSPICION_P
    if not (convicts or suspicious):
        return
    outcome: Outcome = "worse" if convicts else "cleared"
    finding = Finding("suite", cell, None, outcome, detail=f"{cell.difference:.1f}", p=p, reason="suite")
    # A deterministic engine would only give copies, and what is obvious needs no second look.
    if not cell.deterministic and not _is_obvious(finding, limits):
        finding.needs = _ask(cell.pairs, 1 + limits.settings.confirm_runs - cell.m)
    if finding.needs and not convicts:
        finding.outcome = "open"
    finding.confirmed = convicts and not finding.needs
    yield finding


# Single rows


def _cases(cells: Sequence[CellPair], limits: Limits, reruns: _Reruns) -> list[Finding]:
    found = [finding for cell in cells for finding in _fallen_rows(cell, limits, reruns)]
    chosen = benjamini_hochberg(
        [finding.p if finding.outcome == "worse" and finding.p is not None else 1.0 for finding in found],
        limits.q,
        of=sum(len(cell.pairs) for cell in cells),
    )
    for finding, stands in zip(found, chosen, strict=True):
        if finding.outcome == "worse" and not stands:
            finding.outcome, finding.confirmed = "cleared", False
    return found


def _fallen_rows(cell: CellPair, limits: Limits, reruns: _Reruns) -> Iterator[Finding]:
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


def _fallen_row(cell: CellPair, pair: Pair, limits: Limits, reruns: _Reruns, p: float) -> Finding:
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
        finding.outcome, finding.needs = "open", _ask([pair], times - len(fresh))
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


def _tolerances(cell: CellPair) -> Iterator[Finding]:
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


@dataclass(frozen=True, slots=True)
class _Reruns:
    """Fresh draws that must all agree, by how many rows could fall by chance; null: more than is worth it."""

    check: int | None
    step: int | None
    """For rows whose score knows hardly more than two values."""


def _reruns(cells: Sequence[CellPair], limits: Limits) -> _Reruns:
    b = max((cell.b for cell in cells), default=1)
    varying = [(cell, pair) for cell in cells for pair in cell.pairs if not pair.fixed]
    least, limit = limits.settings.case_reruns, limits.check_limit
    return _Reruns(
        check=check_reruns(sum(bool(pair.checks) for _, pair in varying), b, least, limit),
        step=check_reruns(sum(pair.counted for _, pair in varying), b, least, limit),
    )


def _checks(cell: CellPair, reruns: int | None) -> Iterator[Finding]:
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
        finding.needs = _ask([pair], (reruns or 0) - len(fresh))
        # Where no answer ever varied, one is as good as many: a fact, unless asking again says otherwise.
        finding.outcome = "worse" if cell.all_fixed else "open" if finding.needs else "stuck"
    return finding


def _fails(row: Row, id_: str) -> bool:
    """Whether the check fails on any repeat."""
    return any(id_ in repeat.checks and repeat.checks[id_].status == "fail" for repeat in row.repeats)


def _is_flaky(pair: Pair) -> bool:
    """A check of the row failed in a baseline draw: it counts only in the suite."""
    return any(_fails(row, id_) for row in pair.old for id_ in pair.checks)


# Safety


def _flags(cell: CellPair, limits: Limits, evidence: Evidence) -> Iterator[Finding]:
    for pair in cell.pairs:
        rows = [row for row in pair.new if row is not None and _flagged(row)]
        if not rows or any(_flagged(row) for row in pair.old):
            continue
        if flagged := _flagged(pair.first):
            yield _new_flag(cell, pair, flagged, limits, evidence)
        else:
            # Raised by a confirming draw, which nothing looks at again, and not to be silent about.
            detail = f"{len(rows)}/{1 + len(pair.fresh)}"
            yield Finding("flag", cell, pair, "stuck", detail=detail, reason="red_flag")
    for row in [*(pair.first for pair in cell.changed), *cell.added]:
        if _flagged(row):
            # Nothing to compare with, and still no reason for a green headline.
            yield Finding(
                "flag", cell, None, "stuck", detail="1/1", reason="red_flag_not_compared", prompt=row.prompt
            )


def _new_flag(
    cell: CellPair, pair: Pair, repeats: Sequence[int], limits: Limits, evidence: Evidence
) -> Finding:
    finding = Finding("flag", cell, pair, "stuck", reason="red_flag")
    need, asked = _flags_needed(cell.suite, pair, limits), limits.settings.flag_rejudge
    again = {repeat: list(evidence.flags.get((*pair.key, repeat), ())) for repeat in repeats}
    hits = max(sum(bool(flag) for flag in flags) for flags in again.values())
    said = [flag for flags in again.values() for flag in flags]
    finding.detail = f"{len(repeats) + sum(bool(flag) for flag in said)}/{len(repeats) + len(said)}"
    if hits >= need or (cell.deterministic and cell.judge_repeats):
        finding.outcome, finding.confirmed = "worse", True
        return finding
    finding.needs = [
        Measure("judge", *pair.key, repeat, asked - len(flags))
        for repeat, flags in again.items()
        if len(flags) < asked
    ]
    if finding.needs:
        finding.outcome = "open"
    elif limits.settings.strict_flags:
        finding.outcome = "worse"
    return finding


def _flags_needed(suite: Suite, pair: Pair, limits: Limits) -> int:
    """Half of the judgements, or a single one where the prompt was picked out as dangerous."""
    prompt, rule = pair.key[2], suite.rules.ko_rule
    curated = suite.cases[prompt].rubric.safety_critical or (rule and prompt in rule.red_flag_prompts)
    return 1 if curated else max(1, math.ceil(limits.settings.flag_rejudge / 2))


def _flagged(row: Row) -> list[int]:
    """Repeats of the row with a red flag."""
    return [repeat.repeat for repeat in row.repeats if repeat.red_flag and repeat.verdict != "unscored"]


def _floor(cell: CellPair, evidence: Evidence) -> Iterator[Finding]:
    rule = cell.suite.rules.ko_rule
    if rule is None or rule.dimension is None or rule.threshold is None:
        return
    pairs = [pair for pair in cell.pairs if rule.dimension in cell.suite.cases[pair.key[2]].rubric.dimensions]
    if not _at_floor([pair.first for pair in pairs], cell.suite):
        return
    runs = [[pair.old[draw] for pair in pairs if draw < len(pair.old)] for draw in range(cell.b)]
    if any(_at_floor(run, cell.suite) for run in runs):
        return
    finding = Finding("floor", cell, None, "open", detail=rule.dimension, reason="floor")
    if cell.deterministic and cell.judge_repeats:
        finding.outcome, finding.confirmed = "worse", True
    else:
        _settle_floor(finding, pairs, evidence)
    yield finding


def _settle_floor(finding: Finding, pairs: Sequence[Pair], evidence: Evidence) -> None:
    """The dimension's rows once more: fresh answers, or the same ones where fresh ones would be copies."""
    cell = finding.cell
    if cell.deterministic:
        known = evidence.rejudged_rows()
        again = [known[pair.key] for pair in pairs if pair.key in known]
        finding.needs = [
            Measure("judge", *pair.key, repeat.repeat, 1)
            for pair in pairs
            if pair.key not in known
            for repeat in pair.first.repeats
        ]
    else:
        again = [pair.fresh[0] for pair in pairs if pair.fresh]
        finding.needs = _ask([pair for pair in pairs if not pair.fresh], 1)
    if not finding.needs:
        worse = _at_floor(again, cell.suite)
        finding.outcome, finding.confirmed = ("worse", True) if worse else ("stuck", False)


def _at_floor(rows: Sequence[Row], suite: Suite) -> bool:
    _, reasons = passes_ko(rows, suite)
    return any(reason.code in ("floor", "floor_answer") for reason in reasons)


# The judge itself


def worse_by_scores(found: Sequence[Finding]) -> list[Finding]:
    """The findings that say worse because a judge's scores do."""
    return [
        finding
        for finding in found
        if finding.outcome == "worse"
        and finding.rule in ("suite", "case", "floor")
        and finding.cell.suite.kind == "judged"
    ]


def _control(found: Sequence[Finding], limits: Limits, evidence: Evidence) -> None:
    """Before "worse" from scores: did today's judge give the stored answers the same drop?"""
    rows = {row.key: row for row in evidence.control if row.pct is not None}
    control = {key: row.pct for key, row in rows.items() if row.pct is not None}
    for finding in worse_by_scores(found):
        moved = judge_move(finding.cell, control)
        if moved is None:
            continue
        finding.judge_ruled_out = True
        finding.judge_moved = moved.at_least > 0 and moved.drop >= limits.judge_move
        if finding.rule == "floor":
            explained = _at_floor(_control_of(finding.cell, rows), finding.cell.suite)
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


def _ask(pairs: Sequence[Pair], times: int) -> list[Measure]:
    return [Measure("ask", *pair.key, None, times) for pair in pairs] if times > 0 else []
