"""Cells of a page: old → new with where the difference could be, their facts, and their dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.baseline.comparison import ComparedCell
from touchstone.gate.page import PageFacts, Profile
from touchstone.render import numbers
from touchstone.render.comparison import SAFETY_MARKS, difference_words, from_to, length_words, over_words
from touchstone.render.page.phrases import page_phrase
from touchstone.render.page.plot import Axis, Dumbbell, IntervalPlot, dumbbell, interval_axis, interval_plot
from touchstone.render.plain import one_line
from touchstone.render.report import safety_mark
from touchstone.render.review_phrases import review_phrase
from touchstone.render.words import Words
from touchstone.result.schema import Cell, ResultDoc

NAME_WIDTH = 120
VALUE_WIDTH = 300


@dataclass(frozen=True)
class DimensionView:
    """One line of a cell's profile."""

    name: str
    scores: str
    plot: Dumbbell


@dataclass(frozen=True)
class CellView:
    """A cell as shown. `facts` are (label, value); `state` is canonical, for the colour."""

    model: str
    variant: str
    state: str
    told: str
    old: str
    new: str
    difference: str
    interval: IntervalPlot | None
    facts: Sequence[tuple[str, str]]
    profile: Sequence[DimensionView]


def compared_cells(cells: Sequence[ComparedCell], facts: PageFacts, words: Words) -> list[CellView]:
    """Every cell of a comparison."""
    axis = interval_axis(value for cell in cells for value in (cell.interval or ()))
    result = {(cell.model, cell.variant): cell for cell in facts.result.cells}
    return [_compared(cell, result.get((cell.model, cell.variant)), axis, facts, words) for cell in cells]


def own_cells(facts: PageFacts, words: Words) -> list[CellView]:
    """Every cell of a run by itself."""
    return [_own(cell, facts, words) for cell in facts.result.cells]


def _compared(cell: ComparedCell, own: Cell | None, axis: Axis, facts: PageFacts, words: Words) -> CellView:
    plot = None
    if cell.difference is not None and cell.interval is not None:
        plot = interval_plot(axis, cell.difference, cell.interval)
    return CellView(
        model=one_line(cell.model, NAME_WIDTH),
        variant=one_line(cell.variant, NAME_WIDTH),
        state=cell.state,
        told=words[cell.state],
        old="" if cell.state == "new" else numbers.percent(cell.old, words),
        new=numbers.percent(cell.new, words),
        difference=", ".join(filter(None, [difference_words(cell, words), over_words(cell, words)])),
        interval=plot,
        facts=_compared_facts(cell, own, facts.result, words),
        profile=_profile(facts, cell.model, cell.variant, words),
    )


def _own(cell: Cell, facts: PageFacts, words: Words) -> CellView:
    quality = cell.quality
    judged = words["not_judged_yet"] if quality is None else ""
    level = quality.rubric_level if quality else None
    return CellView(
        model=one_line(cell.model, NAME_WIDTH),
        variant=one_line(cell.variant, NAME_WIDTH),
        state="own",
        told=words[level] if level else judged,
        old="",
        new=numbers.percent(quality.pct if quality else None, words),
        difference="",
        interval=None,
        facts=_own_facts(cell, facts.result, words),
        profile=_profile(facts, cell.model, cell.variant, words),
    )


def _compared_facts(
    cell: ComparedCell, own: Cell | None, result: ResultDoc, words: Words
) -> list[tuple[str, str]]:
    first, na = 1 if cell.state == "new" else 0, words["na"]
    facts = [(words["judged"], _judged(own))] if own else []
    if cell.level != (None, None):
        levels = [words[level] if level else na for level in cell.level]
        facts.append((words["level"], from_to(levels[first:])))
    if result.instrument.dimensions:
        facts.append((words["safety"], _safety(cell.safety[first:], own, words)))
    below = [numbers.number(count, words) for count in (cell.old_below, cell.new_below)]
    facts.append((words["below_line"], from_to(below[first:])))
    if cell.shared:
        facts.append((review_phrase(words, "same_answers"), f"{cell.identical}/{cell.shared}"))
    if cell.state != "new" and cell.coverage < 1:
        facts.append((page_phrase(words, "coverage"), numbers.percent(100 * cell.coverage, words)))
    if cell.new_labels or cell.old_labels:
        facts.append(
            (review_phrase(words, "classes"), from_to([cell.old_labels or na, cell.new_labels or na]))
        )
    facts.append((review_phrase(words, "length"), length_words(cell, words, first)))
    return [(label, one_line(value, VALUE_WIDTH)) for label, value in facts]


def _own_facts(cell: Cell, result: ResultDoc, words: Words) -> list[tuple[str, str]]:
    facts = [(words["judged"], _judged(cell))]
    if result.instrument.dimensions:
        facts.append((words["safety"], _safety((), cell, words)))
    if cell.quality and cell.quality.checks.of:
        facts.append((words["checks"], numbers.tally(cell.quality.checks)))
    facts.append((words["below_line"], numbers.number(cell.counts.below_line, words)))
    facts.append((words["answer_tokens"], numbers.number(cell.answer_tokens_med, words)))
    if cell.labels:
        facts.append((words["labels"], numbers.labels(cell.labels, words)))
    return [(label, one_line(value, VALUE_WIDTH)) for label, value in facts]


def _judged(cell: Cell) -> str:
    return f"{cell.counts.judged}/{cell.counts.planned}"


def _safety(marks: Sequence[bool | None], own: Cell | None, words: Words) -> str:
    """Old → new and this run's reasons; what was not assessed is said to be, not left to a dash."""
    told = safety_mark(own, words) if own else SAFETY_MARKS[marks[-1]]
    if told == SAFETY_MARKS[None]:
        told = f"{told} {words['not_assessed']}"
    if len(set(marks)) < 2:
        return told
    return f"{SAFETY_MARKS[marks[0]]} → {told}"


def _profile(facts: PageFacts, model: str, variant: str, words: Words) -> list[DimensionView]:
    if facts.scale is None:
        return []
    axis = Axis(*facts.scale)
    own = [one for one in facts.profiles if (one.model, one.variant) == (model, variant)]
    return [_dimension(one, axis, words, compared=facts.beside is not None) for one in own]


def _dimension(profile: Profile, axis: Axis, words: Words, *, compared: bool) -> DimensionView:
    scores = [numbers.number(value, words, 2) for value in (profile.old, profile.new)]
    return DimensionView(
        name=one_line(f"{profile.dimension} {profile.name}", NAME_WIDTH),
        scores=" → ".join(scores if compared else scores[1:]),
        plot=dumbbell(profile.old, profile.new, axis=axis, threshold=profile.threshold),
    )
