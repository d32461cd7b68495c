"""Baselines over time: a curve per cell over the promotions, with a mark where the prompt became another."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from touchstone.gate.history import Agreed, AgreedCell, History
from touchstone.render import numbers
from touchstone.render.comparison import SAFETY_MARKS
from touchstone.render.page.environment import filled
from touchstone.render.page.phrases import page_phrase
from touchstone.render.page.plot import Axis
from touchstone.render.phrases import phrase
from touchstone.render.plain import one_line
from touchstone.render.words import Language, Words

AXIS_STEP = 10
AXIS_LEAST = 20
"""Points the height stands for at least, so that noise does not look like a mountain."""
COLOURS = 6
SAME_SPOT = 2
"""Percent of the height within which one point hides another."""
AUTHOR_WIDTH = 40
REASON_WIDTH = 160
FAULT_WIDTH = 300
NAME_WIDTH = 80


@dataclass(frozen=True)
class Point:
    """One promotion of one cell, in percent of width and height; `marked` where its prompt is another one.

    `unsafe` where safety failed. `layer` counts the earlier curves that pass through the very same spot.
    """

    x: float
    y: float
    told: str
    marked: bool
    unsafe: bool
    layer: int = 0


@dataclass(frozen=True)
class Curve:
    """A cell's way: `segments` join promotions that follow each other, each with how many curves it lies over
    from end to end; a gap has no segment.
    """

    name: str
    colour: int
    last: str
    points: Sequence[Point]
    segments: Sequence[tuple[Point, Point, int]]


@dataclass(frozen=True)
class PromotedCell:
    """A cell as one promotion agreed to it; `changed` where the promotion before had another prompt."""

    name: str
    score: str
    level: str
    safety: str
    unsafe: bool
    prompt: str
    changed: bool


@dataclass(frozen=True)
class Promotion:
    """A commit of the table, with its cells."""

    date: str
    commit: str
    author: str
    reason: str
    trials: str
    cells: Sequence[PromotedCell]


@dataclass(frozen=True)
class HistoryView:
    """A pack's chart and table.

    `grid` is (height in percent, label), `days` (place in percent, which end of its label stands there, the
    label) and empty where there are fewer than two promotions, which make no curve.
    """

    pack: str
    file: str
    curves: Sequence[Curve]
    grid: Sequence[tuple[float, str]]
    days: Sequence[tuple[float, str, str]]
    marks: Sequence[float]
    any_unsafe: bool
    promotions: Sequence[Promotion]
    faults: Sequence[str]


def history_html(histories: Sequence[History], language: Language = "en") -> str:
    """One page with a chart and a table per pack."""
    words = Words(language)
    return filled(
        "history.html",
        words,
        title=page_phrase(words, "history_title"),
        histories=history_views(histories, words),
    )


def history_views(histories: Iterable[History], words: Words) -> list[HistoryView]:
    """Every pack's history, ready to be placed."""
    return [_view(history, words) for history in histories]


@dataclass(frozen=True)
class _Canvas:
    """What all curves of a chart share: commits that can be read, oldest first, and where each stands."""

    commits: Sequence[Agreed]
    places: Sequence[float]
    axis: Axis
    words: Words


def _view(history: History, words: Words) -> HistoryView:
    commits = [agreed for agreed in reversed(history.commits) if agreed.fault is None]
    keys = dict.fromkeys((cell.model, cell.variant) for agreed in commits for cell in agreed.cells)
    axis = _axis([cell.pct for agreed in commits for cell in agreed.cells])
    canvas = _Canvas(commits, _places(len(commits)), axis, words)
    curves: list[Curve] = []
    for key in keys:
        curves.append(_curve(canvas, curves, key))
    return HistoryView(
        pack=one_line(history.pack, NAME_WIDTH),
        file=one_line(history.file, REASON_WIDTH),
        curves=curves,
        grid=[(_height(axis, tick), numbers.number(tick, words, 0, "%")) for tick in _ticks(axis)],
        days=_days(canvas),
        marks=sorted({point.x for curve in curves for point in curve.points if point.marked}),
        any_unsafe=any(point.unsafe for curve in curves for point in curve.points),
        promotions=list(_promotions(history.commits, words)),
        faults=[_fault(agreed, words) for agreed in history.commits if agreed.fault is not None],
    )


def _curve(canvas: _Canvas, below: Sequence[Curve], key: tuple[str, str]) -> Curve:
    cells = [_cell_of(agreed, key) for agreed in canvas.commits]
    taken = [point for curve in below for point in curve.points]
    points = [_over(_point(canvas, number, cells), taken) for number in range(len(cells))]
    last = next((cell for cell in reversed(cells) if cell), None)
    return Curve(
        name=one_line(" · ".join(key), NAME_WIDTH),
        colour=len(below) % COLOURS,
        last=numbers.percent(last.pct if last else None, canvas.words),
        points=[point for point in points if point],
        segments=[(a, b, min(a.layer, b.layer)) for a, b in pairwise(points) if a and b],
    )


def _point(canvas: _Canvas, number: int, cells: Sequence[AgreedCell | None]) -> Point | None:
    agreed, cell = canvas.commits[number], cells[number]
    if cell is None or cell.pct is None:
        return None
    before = next((older for older in reversed(cells[:number]) if older), None)
    told = f"{agreed.date} · {agreed.commit[:12]} · {numbers.percent(cell.pct, canvas.words)}"
    changed = before is not None and before.prompt_sha256 != cell.prompt_sha256
    unsafe = cell.safety is False
    if unsafe:
        told += f" · {canvas.words['safety']} {SAFETY_MARKS[False]}"
    return Point(canvas.places[number], _height(canvas.axis, cell.pct), told, changed, unsafe)


def _over(point: Point | None, taken: Iterable[Point]) -> Point | None:
    """The point, told how many of the taken ones it would hide."""
    if point is None:
        return None
    hidden = sum(other.x == point.x and abs(other.y - point.y) < SAME_SPOT for other in taken)
    return replace(point, layer=hidden)


def _cell_of(agreed: Agreed, key: tuple[str, str]) -> AgreedCell | None:
    return next((cell for cell in agreed.cells if (cell.model, cell.variant) == key), None)


# The axes


def _axis(values: Iterable[float | None]) -> Axis:
    """Whole tens around all values, at least twenty points high."""
    known = [value for value in values if value is not None] or [0.0, 100.0]
    low = max(0, math.floor((min(known) - 2) / AXIS_STEP) * AXIS_STEP)
    high = min(100, math.ceil((max(known) + 2) / AXIS_STEP) * AXIS_STEP)
    if high - low < AXIS_LEAST:
        low, high = (low, low + AXIS_LEAST) if low + AXIS_LEAST <= 100 else (100 - AXIS_LEAST, 100)
    return Axis(low, high)


def _ticks(axis: Axis) -> list[float]:
    step = AXIS_STEP if axis.high - axis.low <= 5 * AXIS_STEP else 2 * AXIS_STEP
    return [axis.low + n * step for n in range(int((axis.high - axis.low) // step) + 1)]


def _height(axis: Axis, value: float) -> float:
    return round(100 - axis.at(value), 2)


def _places(number: int) -> list[float]:
    """From left to right in even steps; a single one stands in the middle."""
    if number == 1:
        return [50.0]
    return [round(2 + 96 * n / (number - 1), 2) for n in range(number)]


def _days(canvas: _Canvas) -> list[tuple[float, str, str]]:
    """The first, the last and, where there is room, the middle one."""
    last = len(canvas.commits) - 1
    if last < 1:
        return []
    shown = (
        [(0, "start"), (last // 2, "middle"), (last, "end")] if last > 3 else [(0, "start"), (last, "end")]
    )
    return [(canvas.places[n], anchor, canvas.commits[n].date) for n, anchor in shown]


# The table


def _promotions(commits: Sequence[Agreed], words: Words) -> Iterator[Promotion]:
    """Newest first."""
    good = [agreed for agreed in commits if agreed.fault is None]
    for number, agreed in enumerate(good):
        trials = phrase(words, "trials_short", worse=agreed.trials_worse, trials=agreed.trials)
        yield Promotion(
            date=agreed.date,
            commit=agreed.commit[:12],
            author=one_line(agreed.author, AUTHOR_WIDTH),
            reason=one_line(agreed.reason or agreed.subject, REASON_WIDTH),
            trials=trials if agreed.trials else words["na"],
            cells=[_promoted(cell, good[number + 1 :], words) for cell in agreed.cells],
        )


def _promoted(cell: AgreedCell, older: Sequence[Agreed], words: Words) -> PromotedCell:
    key = (cell.model, cell.variant)
    before = next((found for agreed in older if (found := _cell_of(agreed, key))), None)
    return PromotedCell(
        name=one_line(" · ".join(key), NAME_WIDTH),
        score=numbers.percent(cell.pct, words),
        level=words[cell.level] if cell.level else "–",
        safety=SAFETY_MARKS[cell.safety],
        unsafe=cell.safety is False,
        prompt=_short(cell.prompt_sha256) or page_phrase(words, "no_prompt"),
        changed=before is not None and before.prompt_sha256 != cell.prompt_sha256,
    )


def _short(sha256: str | None) -> str:
    return (sha256 or "").removeprefix("sha256:")[:12]


def _fault(agreed: Agreed, words: Words) -> str:
    told = phrase(words, "removed") if agreed.fault == "removed" else agreed.fault or ""
    author = one_line(agreed.author, AUTHOR_WIDTH)
    return f"{agreed.date} · {agreed.commit[:12]} · {author}: {one_line(told, FAULT_WIDTH)}"
