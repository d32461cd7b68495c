"""The part of a report below its cells: categories, dimensions, rows worst first, and what was answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from touchstone.render import numbers
from touchstone.render.flavour import Flavour
from touchstone.render.markdown import block, code, escaped, table
from touchstone.render.phrases import phrase
from touchstone.render.plain import one_line
from touchstone.render.reading import Reading
from touchstone.render.reasons import verdict_reason
from touchstone.render.tables import Table
from touchstone.render.words import Words
from touchstone.result.categories import CategoryShare, category_shares
from touchstone.result.schema import Cell, Repeat, ResultDoc, Row

ANSWERS_SHOWN_MAX = 20
REPEATS_SHOWN_MAX = 10
ANSWER_CHARS_MAX = 20_000
LOWEST_SHOWN = 3
"""Rows shown with their answer where none fell short."""
RATIONALE_WIDTH = 1_000
_DETAIL_WIDTH = 120

_STATE_ORDER = {"error": 0, "fail": 1, None: 2, "pass": 3}


def category_tables(result: ResultDoc, words: Words) -> list[Table]:
    """A line per category: what each cell got there, and how many rows pass; none where there is one."""
    shares = category_shares(result)
    if len(shares) < 2 or not any(cell.quality for cell in result.cells):
        return []
    rows = [
        [category, *(_share(cells.get((cell.model, cell.variant)), words) for cell in result.cells)]
        for category, cells in shares.items()
    ]
    return [Table(words["categories"], [words["category"], *_cell_names(result)], rows)]


def dimension_tables(result: ResultDoc, words: Words) -> list[Table]:
    """A line per dimension: each cell's mean; none where nothing was judged."""
    if not result.instrument.dimensions or not any(cell.quality for cell in result.cells):
        return []
    rows = [
        [
            f"{dimension.id} {dimension.name}",
            *(_dimension(cell, dimension.id, words) for cell in result.cells),
        ]
        for dimension in result.instrument.dimensions
    ]
    return [Table(words["dimensions"], [words["dimension"], *_cell_names(result)], rows)]


def row_table(result: ResultDoc, words: Words) -> list[str]:
    """A line per row, worst first."""
    header = [words["prompt"], words["variant"], words["state"], words["score"], words["what_failed"]]
    if len({cell.model for cell in result.cells}) > 1:
        header.insert(0, words["model"])
    rows = []
    for row in rows_worst_first(result):
        cells = [
            code(row.prompt),
            escaped(row.variant),
            own_state(row, words),
            numbers.percent(row.pct, words),
            escaped(", ".join(fallen_short(row, result, words))) or "–",
        ]
        rows.append([escaped(row.model), *cells] if len(header) > len(cells) else cells)
    return table(header, rows)


def answer_lines(reading: Reading, words: Words, flavour: Flavour) -> list[str]:
    """The worst rows in full: each repeat's answer, and what the judge said of it."""
    shown = _answered(reading.result, words) if reading.answers else []
    lines: list[str] = []
    for row in shown[:ANSWERS_SHOWN_MAX]:
        told = f"{numbers.percent(row.pct, words)}, {own_state(row, words)}"
        lines += flavour.folded(_name(row, reading.result), told, _said(row, reading, words))
    if len(shown) > ANSWERS_SHOWN_MAX:
        lines += [phrase(words, "more_rows", n=len(shown) - ANSWERS_SHOWN_MAX, file="responses.jsonl"), ""]
    return lines


def rows_with_answers(result: ResultDoc, words: Words) -> set[tuple[str, str, str]]:
    """The rows of which a report shows the answers: of a large run they alone need to be read."""
    return {row.key for row in _answered(result, words)[:ANSWERS_SHOWN_MAX]}


def _answered(result: ResultDoc, words: Words) -> list[Row]:
    """The rows worth reading to which something came back."""
    return [
        row
        for row in _worth_reading(result, words)
        if any(repeat.status is not None for repeat in row.repeats)
    ]


def fallen_short(row: Row, result: ResultDoc, words: Words) -> list[str]:
    """What kept a row from passing: checks by id, dimensions with their score, red flags."""
    return list(dict.fromkeys(word for repeat in row.repeats for word in _short_of(repeat, result, words)))


def own_state(row: Row, words: Words, unjudged: str = "na") -> str:
    """A row's state; beside it that an answer was cut at its limit, which no verdict says."""
    state = words[row.state or unjudged]
    cut = any(repeat.status == "truncated" for repeat in row.repeats)
    return f"{state}, {words['truncated']}" if cut else state


def rows_worst_first(result: ResultDoc) -> list[Row]:
    """Errors, then failures, then the rest, each from the lowest score up."""
    return sorted(
        result.rows, key=lambda row: (_STATE_ORDER[row.state], -1.0 if row.pct is None else row.pct)
    )


def _cell_names(result: ResultDoc) -> list[str]:
    return [f"{cell.model} · {cell.variant}" for cell in result.cells]


def _share(share: CategoryShare | None, words: Words) -> str:
    if share is None or share.pct is None:
        return words["na"]
    return f"{numbers.percent(share.pct, words)} ({share.passed}/{share.of} {words['pass']})"


def _dimension(cell: Cell, dimension: str, words: Words) -> str:
    return numbers.number(cell.quality.dim_means.get(dimension) if cell.quality else None, words, 2)


def _worth_reading(result: ResultDoc, words: Words) -> Sequence[Row]:
    """Rows that fell short, worst first; where none did, the lowest that were not perfect."""
    ordered = rows_worst_first(result)
    short = [row for row in ordered if row.state in {"error", "fail"} or fallen_short(row, result, words)]
    lower = [row for row in ordered if row.pct is not None and row.pct < 100]
    return short or lower[:LOWEST_SHOWN]


def _name(row: Row, result: ResultDoc) -> str:
    several = len({cell.model for cell in result.cells}) > 1
    return " · ".join([row.prompt, row.variant, *([row.model] if several else [])])


def _said(row: Row, reading: Reading, words: Words) -> list[str]:
    texts = reading.answers.get(row.key, ())
    rationales = reading.rationales.get(row.key, ())
    lines: list[str] = []
    shown = slice(REPEATS_SHOWN_MAX)
    for text, repeat, rationale in zip_longest(texts[shown], row.repeats[shown], rationales[shown]):
        lines += [*_verdict(repeat, words), *([*_answer(text, words), ""] if text else [])]
        if rationale:
            lines += [f"{words['judge']}: {escaped(one_line(rationale, RATIONALE_WIDTH))}", ""]
    if len(row.repeats) > REPEATS_SHOWN_MAX:
        more = len(row.repeats) - REPEATS_SHOWN_MAX
        lines += [phrase(words, "more_repeats", n=more, file="responses.jsonl"), ""]
    return lines[:-1]


def _answer(text: str, words: Words) -> list[str]:
    """An answer in a block; one without end is shown as far as somebody might read it."""
    left = len(text) - ANSWER_CHARS_MAX
    if left <= 0:
        return block(text)
    more = phrase(words, "more_characters", n=f"{left}", file="responses.jsonl")
    return [*block(text[:ANSWER_CHARS_MAX]), "", more]


def _verdict(repeat: Repeat | None, words: Words) -> list[str]:
    """What was said of one repeat, in one line above its answer."""
    if repeat is None:
        return []
    told = [words["truncated"]] if repeat.status == "truncated" else []
    told += [f"{dimension} {score}" for dimension, score in repeat.scores.items()]
    told += [f"{id_}: {words[check.status]}" for id_, check in repeat.checks.items()]
    told += [phrase(words, "red_flag")] if repeat.red_flag else []
    told += [verdict_reason(repeat.reason, words)] if repeat.reason else []
    return [escaped(" · ".join(told)), ""] if told else []


def _short_of(repeat: Repeat, result: ResultDoc, words: Words) -> Iterator[str]:
    if repeat.status == "error" or repeat.verdict in {"error", "unscored"}:
        reason = verdict_reason(repeat.reason, words)
        yield one_line(": ".join(filter(None, [reason, repeat.detail])), _DETAIL_WIDTH)
        return
    for dimension, score in repeat.scores.items():
        line = result.rules.dimensions[dimension].threshold
        if line is not None and score < line:
            yield f"{dimension} {score}"
    yield from (name for name, check in repeat.checks.items() if check.status != "pass")
    if repeat.red_flag:
        yield phrase(words, "red_flag")
