"""The one word of every row and cell, and of the whole (design 5.2, table of states)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.baseline.comparison import State
from touchstone.baseline.finding import CASE_SUSPICION_P, Finding, Limits
from touchstone.baseline.pairs import CellPair, Pair, dimension_means
from touchstone.pack.checks import LABEL_CHECK
from touchstone.result.schema import Row

TOO_FEW_ROWS = 5
"""Under this many scored rows a cell is never called unchanged."""
PROMPT_CUT = 0.10
"""A prompt that lost this share of its tokens without having changed was cut by the engine."""


@dataclass(frozen=True, slots=True)
class Word:
    """A state with the code of its reason."""

    state: State
    reason: str | None = None
    confirmed: bool = False


def row_word(cell: CellPair, pair: Pair, found: Sequence[Finding], limits: Limits, line_moved: bool) -> Word:
    """The word of a shared row. `line_moved`: only the new side's rules make it pass or fail."""
    if pair.first.pct is None:
        return Word("not_judged", why_not_judged(pair.first))
    if not pair.old_pcts:
        return Word("not_judged", "reference_not_judged")
    for outcome in ("worse", "judge_moved", "open", "stuck"):
        for finding in found:
            if finding.outcome == outcome:
                return _suspected(finding)
    if _passed_again(cell, pair, found):
        return Word("within_noise")
    word = _moved_word(cell, pair, limits)
    # A row that is lower as well is not called a matter of the line.
    return Word("rule_changed", "line_moved") if line_moved and word.state != "suspect" else word


def why_not_judged(row: Row) -> str | None:
    """The code of the first repeat without a verdict; null where nothing was said of it yet."""
    return next((repeat.reason for repeat in row.repeats if repeat.reason is not None), None)


def cell_word(cell: CellPair, found: Sequence[Finding], limits: Limits) -> Word:
    """The word of a cell, from the findings about it and its rows."""
    if not cell.pairs:
        return _empty_word(cell)
    if cell.difference is None:
        return Word("not_judged")
    whole = [finding for finding in found if finding.rule in ("suite", "floor", "flag")]
    for outcome in ("worse", "judge_moved"):
        for finding in whole:
            if finding.outcome == outcome:
                return _suspected(finding)
    for finding in whole:
        if finding.outcome in ("open", "stuck"):
            return Word("suspect", finding.reason)
    hurt = any(finding.rule == "flag" or finding.outcome == "worse" for finding in found)
    return _mean_word(cell, cell.difference, limits, hurt=hurt)


def is_prompt_cut(pair: Pair) -> bool:
    """The engine read at least a tenth fewer prompt tokens than for the baseline's typical run."""
    for before, after in zip(pair.shown.repeats, pair.first.repeats, strict=False):
        was, now = before.prompt_tokens, after.prompt_tokens
        if was and now is not None and now <= (1 - PROMPT_CUT) * was:
            return True
    return False


def moved_by(old: Row, new: Row) -> list[str]:
    """What moved between two draws: `Q1 4 → 3`, `contains pass → fail`, `label a → b`, `red_flag`."""
    moved = [
        f"{dimension} {_short(was)} → {_short(now)}"
        for dimension, was, now in _dimension_moves(old, new)
        if was != now
    ]
    for before, after in zip(old.repeats, new.repeats, strict=False):
        moved += [
            f"{id_} {check.status} → {after.checks[id_].status}"
            for id_, check in before.checks.items()
            if id_ in after.checks and after.checks[id_].status != check.status and id_ != LABEL_CHECK
        ]
        if after.status == "truncated" and before.status != "truncated":
            moved.append("truncated")
        if after.verdict is None:
            continue  # what nobody judged has neither lost its class nor its flag
        if before.label != after.label:
            moved.append(f"label {before.label or '–'} → {after.label or '–'}")
        unknown = after.red_flag is None and after.verdict != "judged"
        if bool(before.red_flag) != bool(after.red_flag) and not unknown:
            moved.append("red_flag" if after.red_flag else "red_flag gone")
    return list(dict.fromkeys(moved))


def _passed_again(cell: CellPair, pair: Pair, found: Sequence[Finding]) -> bool:
    """A check that failed once and passed when the row was asked again, and is all the score there is."""
    withdrawn = any(finding.rule == "check" and finding.outcome == "cleared" for finding in found)
    back = any(row.pct is not None and row.pct >= min(pair.old_pcts) for row in pair.fresh)
    return cell.suite.kind == "checks" and withdrawn and back


def _suspected(finding: Finding) -> Word:
    if finding.outcome == "worse":
        return Word("worse", finding.reason, finding.confirmed)
    if finding.outcome == "judge_moved":
        return Word("rule_changed", "judge_moved")
    return Word("suspect", finding.reason)


def _moved_word(cell: CellPair, pair: Pair, limits: Limits) -> Word:
    pct = pair.first.pct or 0.0
    if pair.same_answer:
        return Word("unchanged", "same_answer")
    if min(pair.old_pcts) <= pct <= max(pair.old_pcts):
        return Word("unchanged")
    if cell.deterministic or pair.fixed or cell.b == 1:
        return _one_draw_word(cell, pair, limits)
    if pair.old_spread.variance == 0 and cell.pooled_variance == 0:
        return Word("better", "higher_one_draw") if pair.difference > 0 else _lower(pair)
    risen = pair.difference >= limits.min_drop
    if risen and cell.row_error(pair).p_drop(-pair.difference) <= limits.alpha:
        return Word("better")
    return Word("within_noise")


def _one_draw_word(cell: CellPair, pair: Pair, limits: Limits) -> Word:
    """Equal baseline answers tell no noise; how differently the cell's rows moved does."""
    beyond = (
        len(cell.differences) < 2 or cell.row_move_error.p_drop(-abs(pair.difference)) <= CASE_SUSPICION_P
    )
    if pair.difference < 0:
        lower = beyond or pair.difference <= -limits.case_drop
        return _lower(pair) if lower else Word("within_noise", "among_the_moved")
    return Word("better", "higher_one_draw") if beyond else Word("within_noise", "among_the_moved")


def _lower(pair: Pair) -> Word:
    return Word("suspect", "lower_asked_again" if pair.fresh else "lower_one_draw")


def _empty_word(cell: CellPair) -> Word:
    if cell.changed:
        return Word("rule_changed", "case_changed")
    return Word("gone") if cell.gone else Word("new")


def _mean_word(cell: CellPair, difference: float, limits: Limits, *, hurt: bool) -> Word:
    if cell.error is None:
        return Word("within_noise", "too_few_cases")
    risen = difference >= limits.min_drop and cell.error.p_drop(-difference) <= limits.alpha
    if risen and not hurt:
        return Word("better", "suite")
    low, high = cell.error.interval(difference)
    few = len(cell.scored) < TOO_FEW_ROWS
    if not few and -limits.equal_margin < low and high < limits.equal_margin:
        return Word("unchanged", "inside_margin")
    if cell.without_spread and not few:
        return Word("better", "suite") if difference > 0 and not hurt else Word("suspect", "suite")
    return Word("within_noise", "too_few_cases" if few else "interval")


def _dimension_moves(old: Row, new: Row) -> list[tuple[str, float, float]]:
    before, after = dimension_means(old), dimension_means(new)
    return [(id_, value, after[id_]) for id_, value in before.items() if id_ in after]


def _short(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{round(value, 2):g}"
