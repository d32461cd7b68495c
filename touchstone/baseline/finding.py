"""What a comparison holds rows and cells against, and what it suspects of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from touchstone.baseline.evidence import Measure
from touchstone.baseline.pairs import USUAL_SPAN, CellPair, Pair, span_of
from touchstone.config import CompareSettings
from touchstone.pack.suite import Suite

SUSPICION_P = 0.10
CASE_SUSPICION_P = 0.05
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
    """Today's judge has seen the cell's stored answers again …"""
    judge_due: bool = False
    """… or could still, and until then what is worse by scores is open."""
    judge_moved: bool = False
    """It has, and scores them lower, whether or not that explains everything."""


def further_draws(pairs: Sequence[Pair], times: int) -> list[Measure]:
    """So many fresh draws of each row; none below one."""
    return [Measure("ask", *pair.key, None, times) for pair in pairs] if times > 0 else []
