"""Rows and cells of two sides laid beside each other, with the figures the verdict is made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from touchstone.baseline.comparability import Ruler
from touchstone.baseline.sides import RowKey, Side
from touchstone.baseline.statistics import (
    Error,
    Spread,
    mean_variance,
    paired_error,
    pooled_error,
    row_error,
    spread_of,
)
from touchstone.pack.suite import Suite
from touchstone.result.asked import listed_only
from touchstone.result.rows import CellKey
from touchstone.result.schema import Row

DETERMINISTIC_SHARE = 0.8
"""From this share of fixed rows on, the engine is taken to repeat itself."""
WIDENED_SHARE = 0.2
"""From this share on, what the fixed rows' draws do not show would make the error too small."""
FEW_ROWS = 10
"""Under this many scored rows a suite is too small to see a small drop."""
FULL_SPAN = 100.0
USUAL_SPAN = 80.0
"""Of a 1–5 scale, which the settings' points are written for."""

Signature = str | tuple[str, ...]
"""What a row answered: its answer's hash, or those of its repeats."""


@dataclass(eq=False, slots=True)
class Pair:
    """One row on both sides.

    `new` has an entry per draw, null where the draw does not hold the row; it begins with the run that
    was made before anything was suspect. `shown` is the old side's typical run.
    """

    key: RowKey
    """The new side's names."""
    old: list[Row]
    new: list[Row | None]
    shown: Row
    first: Row
    counted: bool
    """Whether the prompt's pct enters the cell's."""
    checks: tuple[str, ...]
    """Ids of the checks that may decide something; the class of a labelled prompt is not one."""
    old_pcts: list[float]
    """Scores of the baseline draws that have one."""
    old_mean: float
    old_spread: Spread
    fixed: bool
    """All baseline draws, at least two, carry one answer."""
    same_answer: bool | None
    """Whether the first run's answer is one of the baseline's; null where hashes are missing."""

    @property
    def scored(self) -> bool:
        """Both sides have a score."""
        return self.first.pct is not None and bool(self.old_pcts)

    @property
    def difference(self) -> float:
        """First run minus the mean of the baseline's draws."""
        return (self.first.pct or 0.0) - self.old_mean

    @property
    def fresh(self) -> list[Row]:
        """The draws made after the first."""
        return [row for row in self.new[1:] if row is not None]


@dataclass(frozen=True, slots=True)
class Move:
    """How one row's mean moved, and what its error follows from. `draws`: (baseline's, distinct new ones)."""

    difference: float
    new_mean: float
    spread: Spread
    draws: tuple[int, int]


@dataclass(eq=False)
class CellPair:
    """One cell on both sides. Only `pairs` are compared.

    `suite` is the new side's under the old side's rules; `b` counts the baseline's draws; `allowance` and
    `span` are points of pct.
    """

    key: CellKey
    old_model: str
    suite: Suite
    pairs: list[Pair]
    changed: list[Pair]
    """Rows whose input or rubric differs."""
    added: list[Row]
    gone: list[Row]
    b: int
    full_draws: list[int]
    """Draws of the candidate that hold every row of the cell; the first one is always among them."""
    allowance: float
    span: float
    engine_moved: bool

    @property
    def m(self) -> int:
        """Draws of the whole cell the candidate has."""
        return len(self.full_draws)

    @cached_property
    def scored(self) -> list[Pair]:
        """The rows the cell's difference is the mean of."""
        return [pair for pair in self.pairs if pair.counted and pair.scored]

    @cached_property
    def deterministic(self) -> bool | None:
        """Whether asking again gives copies; null where one baseline run cannot tell."""
        if self.b < 2 or not self.pairs:
            return None
        return self.fixed_share >= DETERMINISTIC_SHARE

    @cached_property
    def fixed_share(self) -> float:
        """Share of the rows that every baseline run answered alike."""
        return sum(pair.fixed for pair in self.pairs) / len(self.pairs) if self.pairs else 0.0

    @property
    def widened(self) -> bool:
        """Whether a row's own draws may hide how far an edit moves it.

        Equal answers say nothing about how much an edit or another engine shakes them, a check or class
        that came out right three times looks as if it could not come out wrong, and few rows may happen
        to have been quiet.
        """
        few = len(self.scored) < FEW_ROWS
        return few or self.fixed_share >= WIDENED_SHARE or self.engine_moved or self.suite.kind != "judged"

    @cached_property
    def all_fixed(self) -> bool:
        """Not one row was answered differently between the baseline's runs."""
        return self.b > 1 and all(pair.fixed for pair in self.pairs)

    @cached_property
    def judge_repeats(self) -> bool:
        """Equal answers always got equal verdicts, and there were some to see it by."""
        seen = [_verdicts_agree(pair) for pair in self.pairs]
        return True in seen and False not in seen

    @cached_property
    def pooled_variance(self) -> float:
        """Mean variance of a row between the baseline's draws."""
        return mean_variance([pair.old_spread for pair in self.scored])

    @cached_property
    def moves(self) -> list[Move]:
        """The moves of the scored rows, over the draws of the whole cell."""
        return [_move(pair, self.full_draws) for pair in self.scored]

    @cached_property
    def differences(self) -> list[float]:
        """Candidate minus baseline mean, of each scored row."""
        return [move.difference for move in self.moves]

    @cached_property
    def difference(self) -> float | None:
        """Candidate minus the mean of all baseline draws, over the rows both sides scored."""
        return math.fsum(self.differences) / len(self.differences) if self.differences else None

    @cached_property
    def error(self) -> Error | None:
        """Error of `difference`; null where nothing tells it."""
        if not self.moves:
            return None
        paired = paired_error(self.differences, allowance=self.allowance)
        if self.b == 1:
            return paired
        pooled = pooled_error(
            [move.spread for move in self.moves],
            [move.draws for move in self.moves],
            allowance=self.allowance,
            b=self.b,
            m=self.m,
        )
        if not self.widened:
            return pooled
        return None if paired is None else max(pooled, paired, key=lambda error: error.se)

    @cached_property
    def paired_sd(self) -> float:
        """How differently the rows moved."""
        return math.sqrt(spread_of(self.differences).variance)

    @property
    def without_spread(self) -> bool:
        """Nothing varied, neither a row between its draws nor one row's move from another's."""
        return self.paired_sd == 0 and all(move.spread.variance == 0 for move in self.moves)

    @cached_property
    def row_move_error(self) -> Error:
        """Error of one row's move where its own draws tell none: the spread of all moves."""
        return Error(self.paired_sd, max(1, len(self.differences) - 1))

    def row_error(self, pair: Pair, m: int = 1) -> Error:
        """Error of one row's difference, from its own and the cell's noise."""
        return row_error(pair.old_spread, self.pooled_variance, self.span, b=len(pair.old_pcts), m=m)


def pair_up(old: Side, draws: Sequence[Sequence[Row]], suite: Suite, ruler: Ruler) -> list[CellPair]:
    """Every cell of either side, the new side's first, in its order.

    `draws` are the new side's rows under the old side's rules, the first run first; `suite` is the new
    side's with those rules.
    """
    first, typical = _places(draws[0]), _places(old.draws[old.typical])
    candidate = [_in_place(draw, draws[0], first) for draw in draws]
    baseline = [_in_place(draw, old.draws[old.typical], typical) for draw in old.draws]
    cells = {
        key: CellPair(
            key=key,
            old_model=ruler.models.get(key[0], key[0]),
            suite=suite,
            pairs=[],
            changed=[],
            added=[],
            gone=[],
            b=len(old.draws),
            full_draws=[],
            allowance=old.suite.rules.compare.launch_allowance * span_of(old.suite) / USUAL_SPAN,
            span=span_of(old.suite),
            engine_moved=ruler.engine_moved,
        )
        for key in _cell_keys(first, typical, ruler.models)
    }
    asked = {id_: (counts_in_pct(suite, id_), counting_checks(suite, id_)) for id_ in suite.cases}
    for place, (key, row) in enumerate(zip(first, draws[0], strict=True)):
        cell = cells[key[:2]]
        kept = typical.get((cell.old_model, key[1], key[2])) if key[0] in ruler.models else None
        if kept is None:
            cell.added.append(row)
            continue
        before = [found for draw in baseline if (found := draw[kept]) is not None]
        now = [draw[place] for draw in candidate]
        shown = old.draws[old.typical][kept]
        pair = _pair(key, before, now, shown=shown, first=row, asked=asked[key[2]])
        (cell.changed if key[2] in ruler.changed else cell.pairs).append(pair)
    _add_gone(cells, first, dict(zip(typical, old.draws[old.typical], strict=True)), ruler.models)
    for cell in cells.values():
        cell.full_draws = [
            number for number in range(len(candidate)) if all(pair.new[number] for pair in cell.pairs)
        ]
    return list(cells.values())


def span_of(suite: Suite) -> float:
    """Points between the lowest and the highest pct a row can get."""
    if suite.kind != "judged":
        return FULL_SPAN
    scale = suite.instrument.scale
    return FULL_SPAN * (max(scale) - min(scale)) / max(scale)


def counts_in_pct(suite: Suite, prompt: str) -> bool:
    """Whether this prompt's rows enter the cell's pct: where a judge scores, only those it is asked about."""
    return suite.kind != "judged" or bool(suite.cases[prompt].rubric.dimensions)


def counting_checks(suite: Suite, prompt: str) -> tuple[str, ...]:
    """Ids of the prompt's checks that may decide something; the class of a labelled prompt is not one."""
    rubric = suite.cases[prompt].rubric
    if not rubric.checks:
        return ()
    uncounted = listed_only(rubric)
    return tuple(check["id"] for check in rubric.checks if check["id"] not in uncounted)


def dimension_means(row: Row) -> dict[str, float]:
    """Mean score of a row in each dimension, over its repeats."""
    if len(row.repeats) == 1:
        return dict(row.repeats[0].scores)
    scores: dict[str, list[int]] = {}
    for repeat in row.repeats:
        for dimension, score in repeat.scores.items():
            scores.setdefault(dimension, []).append(score)
    return {dimension: math.fsum(values) / len(values) for dimension, values in scores.items()}


def signature_of(row: Row) -> Signature | None:
    """What the row answered; null if a hash is missing."""
    if len(row.repeats) == 1:
        return row.repeats[0].answer_sha256
    hashes = [repeat.answer_sha256 for repeat in row.repeats]
    known = tuple([hash_ for hash_ in hashes if hash_ is not None])
    return known if known and len(known) == len(hashes) else None


def distinct_pcts(rows: Iterable[Row]) -> list[float]:
    """Mean score of each distinct answer among some draws: a copy is the same draw again."""
    groups: dict[object, list[float]] = {}
    for row in rows:
        if row.pct is not None:
            groups.setdefault(signature_of(row) or object(), []).append(row.pct)
    return [math.fsum(values) / len(values) for values in groups.values()]


def _places(rows: Sequence[Row]) -> dict[RowKey, int]:
    return {(row.model, row.variant, row.prompt): place for place, row in enumerate(rows)}


def _in_place(rows: Sequence[Row], like: Sequence[Row], places: Mapping[RowKey, int]) -> Sequence[Row | None]:
    """The rows in the order of others; null where one is missing. Runs of one plan are so already."""
    if len(rows) == len(like) and all(map(_same_key, rows, like)):
        return rows
    found: list[Row | None] = [None] * len(like)
    for row in rows:
        place = places.get((row.model, row.variant, row.prompt))
        if place is not None:
            found[place] = row
    return found


def _same_key(one: Row, other: Row) -> bool:
    return one.prompt == other.prompt and one.variant == other.variant and one.model == other.model


def _pair(
    key: RowKey,
    old: list[Row],
    new: list[Row | None],
    *,
    shown: Row,
    first: Row,
    asked: tuple[bool, tuple[str, ...]],
) -> Pair:
    pcts = [row.pct for row in old if row.pct is not None]
    answers = [signature_of(row) for row in old]
    answer = signature_of(first)
    known = None not in answers
    return Pair(
        key=key,
        old=old,
        new=new,
        shown=shown,
        first=first,
        counted=asked[0],
        checks=asked[1],
        old_pcts=pcts,
        old_mean=sum(pcts) / len(pcts) if pcts else math.nan,
        old_spread=spread_of(pcts),
        fixed=known and len(answers) > 1 and answers.count(answers[0]) == len(answers),
        same_answer=answer in answers if known and answer is not None else None,
    )


def _move(pair: Pair, draws: Sequence[int]) -> Move:
    if len(draws) == 1:
        pct = pair.first.pct or 0.0
        return Move(pct - pair.old_mean, pct, pair.old_spread, (len(pair.old_pcts), 1))
    rows = [row for row in (pair.new[number] for number in draws) if row is not None]
    pcts = [row.pct for row in rows if row.pct is not None]
    groups = distinct_pcts(rows)
    new_mean = math.fsum(pcts) / len(pcts)
    spread = spread_of(pair.old_pcts, groups)
    return Move(new_mean - pair.old_mean, new_mean, spread, (len(pair.old_pcts), len(groups)))


def _cell_keys(
    new: Iterable[RowKey], old: Iterable[RowKey], models: Mapping[str, str]
) -> dict[CellKey, None]:
    now = {was: model for model, was in models.items()}
    keys = dict.fromkeys(key[:2] for key in new)
    return keys | dict.fromkeys((now.get(key[0], key[0]), key[1]) for key in old)


def _add_gone(
    cells: Mapping[CellKey, CellPair],
    new: Mapping[RowKey, int],
    old: Mapping[RowKey, Row],
    models: Mapping[str, str],
) -> None:
    now = {was: model for model, was in models.items()}
    for (model, variant, prompt), row in old.items():
        name = now.get(model, model)
        if model not in now or (name, variant, prompt) not in new:
            cells[(name, variant)].gone.append(row)


def _verdicts_agree(pair: Pair) -> bool | None:
    """Whether draws with one answer got one verdict; null where no two were judged."""
    seen: dict[Signature, object] = {}
    agree = None
    for row in [*pair.old, *(row for row in pair.new if row is not None)]:
        signature = signature_of(row)
        if signature is None or row.pct is None:
            continue
        verdict = [(repeat.scores, repeat.red_flag) for repeat in row.repeats]
        if signature in seen:
            if seen[signature] != verdict:
                return False
            agree = True
        seen[signature] = verdict
    return agree
