"""The rows and cells of a comparison, as they are kept in `comparison.json`."""

from __future__ import annotations

import math
import statistics as descriptive
from collections.abc import Iterable, Iterator, Sequence

from touchstone.baseline.comparison import ComparedCell, ComparedRow
from touchstone.baseline.matchup import Matchup
from touchstone.baseline.pairs import CellPair, Pair, counts_in_pct
from touchstone.baseline.states import Word, cell_word, is_prompt_cut, moved_by, row_word, why_not_judged
from touchstone.pack.suite import Suite
from touchstone.result.labels import label_report
from touchstone.result.numbers import mean
from touchstone.result.safety import passes_ko
from touchstone.result.schema import Row
from touchstone.result.scorecard import below_line, rubric_level


def compared_rows(found: Matchup) -> list[ComparedRow]:
    """Every row of either side, cell by cell: the shared ones in the order of the run, then the gone ones."""
    return [row for cell in found.cells for row in _rows(found, cell)]


def compared_cell(found: Matchup, cell: CellPair) -> ComparedCell:
    """One cell, old → new. Figures are over the rows both sides scored; safety is each side's own."""
    old_rows, new_rows = _sides_rows(cell)
    word = Word("rule_changed", "instrument") if _unread(found, cell) else _cell_word(found, cell)
    old, new = _old_pct(cell, found.old.suite), _new_pct(cell)
    old_judged, new_judged = _judged_rows(cell)
    difference = None if found.ruler.instrument else cell.difference
    error = None if found.ruler.instrument else cell.error
    return ComparedCell(
        model=cell.key[0],
        variant=cell.key[1],
        state=word.state,
        old=old,
        new=new,
        difference=difference,
        interval=error.interval(difference) if error is not None and difference is not None else None,
        level=(_level(old, found.old.suite), _level(new, found.suite)),
        safety=(_safety(old_rows, found.old.suite), _safety(new_rows, found.suite)),
        length=lengths(old_rows, new_rows),
        length_unit="tokens" if counts_tokens([*old_rows, *new_rows]) else "characters",
        over=_over(cell, old),
        coverage=_coverage(cell),
        deterministic=cell.deterministic,
        old_below=below_line(old_judged),
        new_below=below_line(new_judged),
        identical=sum(pair.same_answer is True for pair in cell.pairs),
        shared=len(cell.pairs),
        old_labels=_accuracy([pair.shown for pair in cell.pairs], found.old.suite),
        new_labels=_accuracy([pair.first for pair in cell.pairs], found.suite),
    )


def lengths(old: Sequence[Row], new: Sequence[Row]) -> tuple[float | None, float | None]:
    """Median answer length of two sets of rows, in tokens where all are counted, else in characters."""
    if counts_tokens([*old, *new]):
        return (_median(token_counts(old)), _median(token_counts(new)))
    return (_median(_char_counts(old)), _median(_char_counts(new)))


def counts_tokens(rows: Iterable[Row]) -> bool:
    """Whether the engine counted the tokens of every answer."""
    return None not in token_counts(rows)


def token_counts(rows: Iterable[Row]) -> list[int | None]:
    """Completion tokens of every answer."""
    return [repeat.completion_tokens for row in rows for repeat in row.repeats if repeat.answer_sha256]


def _char_counts(rows: Iterable[Row]) -> list[int | None]:
    return [repeat.answer_chars for row in rows for repeat in row.repeats if repeat.answer_sha256]


def _median(counts: Sequence[int | None]) -> float | None:
    known = [count for count in counts if count is not None]
    return float(descriptive.median(known)) if known and len(known) == len(counts) else None


# Rows


def _rows(found: Matchup, cell: CellPair) -> Iterator[ComparedRow]:
    unread = bool(found.ruler.instrument)
    for pair in cell.pairs:
        word = Word("rule_changed", "instrument") if unread else _pair_word(found, cell, pair)
        yield _compared(pair, word, _moves(found, pair, word))
    for pair in cell.changed:
        yield _compared(pair, Word("rule_changed", "case_changed"), [])
    for row in cell.added:
        yield _lonely(row, cell.key[0], old=None, new=row)
    for row in cell.gone:
        yield _lonely(row, cell.key[0], old=row, new=None)


def _pair_word(found: Matchup, cell: CellPair, pair: Pair) -> Word:
    findings = found.by_pair.get(pair, ())
    word = row_word(cell, pair, findings, found.limits, pair.key in found.line_moved)
    if not found.ruler.engine_moved and pair.key[1] in found.ruler.same_variants and is_prompt_cut(pair):
        return Word(word.state, "prompt_cut", word.confirmed)
    return word


def _moves(found: Matchup, pair: Pair, word: Word) -> list[str]:
    if pair.same_answer and word.reason == "same_answer":
        return []
    moves = moved_by(pair.shown, pair.first)
    return moves + _moved_lines(found, pair) if word.reason == "line_moved" else moves


def _moved_lines(found: Matchup, pair: Pair) -> list[str]:
    """The lines this row's answers are held to that moved, e.g. `Q1 line 3 → 4`."""
    prompt = pair.key[2]
    old, new = found.old.suite.rules, found.new.suite.rules
    rubric = found.suite.cases[prompt].rubric
    moved = [(id_, old.dimensions.get(id_), new.dimensions.get(id_)) for id_ in rubric.dimensions]
    for id_ in pair.checks:
        key = f"{prompt}/{id_}"
        moved.append((id_, old.checks.get(key), new.checks.get(key)))
    return [
        f"{id_} line {_line(was.threshold)} → {_line(now.threshold)}"
        for id_, was, now in moved
        if was is not None and now is not None and was.threshold != now.threshold
    ]


def _line(threshold: float | None) -> str:
    return "–" if threshold is None else f"{threshold:g}"


def _compared(pair: Pair, word: Word, moves: list[str]) -> ComparedRow:
    return ComparedRow(
        model=pair.key[0],
        variant=pair.key[1],
        prompt=pair.key[2],
        state=word.state,
        old=pair.shown.pct,
        new=pair.first.pct,
        moved_by=moves,
        draws=sum(row is not None for row in pair.new),
        confirmed=word.confirmed,
        same_answer=pair.same_answer,
        reason=word.reason,
    )


def _lonely(row: Row, model: str, *, old: Row | None, new: Row | None) -> ComparedRow:
    flagged = any(repeat.red_flag for repeat in row.repeats)
    unjudged = new is not None and new.pct is None
    return ComparedRow(
        model=model,
        variant=row.variant,
        prompt=row.prompt,
        state="not_judged" if unjudged else "new" if new is not None else "gone",
        old=old.pct if old else None,
        new=new.pct if new else None,
        moved_by=[],
        draws=0 if new is None else 1,
        confirmed=False,
        same_answer=None,
        reason=why_not_judged(new)
        if new is not None and unjudged
        else "red_flag"
        if new is not None and flagged
        else None,
    )


# Cells


def _unread(found: Matchup, cell: CellPair) -> bool:
    return bool(found.ruler.instrument and cell.pairs)


def _cell_word(found: Matchup, cell: CellPair) -> Word:
    return cell_word(cell, found.of_cell(cell), found.limits)


def _sides_rows(cell: CellPair) -> tuple[list[Row], list[Row]]:
    pairs = [*cell.pairs, *cell.changed]
    return [*(pair.shown for pair in pairs), *cell.gone], [*(pair.first for pair in pairs), *cell.added]


def _judged_rows(cell: CellPair) -> tuple[list[Row], list[Row]]:
    """What is counted on each side: the rows both scored, or what one side alone has to show."""
    both = [pair for pair in cell.pairs if pair.first.pct is not None and pair.shown.pct is not None]
    if both:
        return [pair.shown for pair in both], [pair.first for pair in both]
    old = [pair.shown for pair in cell.pairs] or cell.gone
    return old, [pair.first for pair in cell.pairs] or cell.added


def _old_pct(cell: CellPair, suite: Suite) -> float | None:
    """Over the rows both sides scored; where nothing was scored now, the reference's own."""
    pairs = cell.scored or [pair for pair in cell.pairs if pair.counted]
    rows = [pair.shown for pair in pairs] or [row for row in cell.gone if counts_in_pct(suite, row.prompt)]
    return _mean_pct(rows)


def _over(cell: CellPair, old: float | None) -> int | None:
    """How many rows the old number is over, where it is not the reference's own."""
    if not cell.scored or old is None:
        return None
    rows = [pair.shown for pair in (*cell.pairs, *cell.changed) if pair.counted] + cell.gone
    own = _mean_pct(rows)
    return None if own is None or math.isclose(own, old) else len(cell.scored)


def _new_pct(cell: CellPair) -> float | None:
    if cell.moves:
        return mean([move.new_mean for move in cell.moves])
    return _mean_pct([row for row in cell.added if counts_in_pct(cell.suite, row.prompt)])


def _mean_pct(rows: Iterable[Row]) -> float | None:
    pcts = [row.pct for row in rows if row.pct is not None]
    return mean(pcts) if pcts else None


def _level(pct: float | None, suite: Suite) -> str | None:
    return rubric_level(pct) if pct is not None and suite.kind == "judged" else None


def _safety(rows: Sequence[Row], suite: Suite) -> bool | None:
    return passes_ko(rows, suite)[0] if rows else None


def _coverage(cell: CellPair) -> float:
    of = len(cell.pairs) + len(cell.changed) + len(cell.gone)
    return len(cell.pairs) / of if of else 1.0


def _accuracy(rows: Sequence[Row], suite: Suite) -> str | None:
    report = label_report(rows, suite)
    return None if report is None else f"{report.accuracy.hits}/{report.accuracy.of}"
