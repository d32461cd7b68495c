"""Rows of a page: each with its drawing, and behind it the question and both answers."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from touchstone.baseline.comparison import ComparedRow
from touchstone.gate.page import Beside, PageFacts
from touchstone.render.comparison import first_change, moved_rows, moves_words, state_words
from touchstone.render.numbers import percent
from touchstone.render.page.phrases import page_phrase
from touchstone.render.page.plot import Dumbbell, dumbbell
from touchstone.render.page.texts import Text, apart, shown
from touchstone.render.plain import one_line
from touchstone.render.report_rows import fallen_short, own_state, rows_worst_first
from touchstone.render.words import Words
from touchstone.result.schema import Row

ROWS_IN_SIGHT = 100
"""Rows of a group before the rest is folded, a hundred at a time."""
ROWS_WITH_TEXTS = 500
"""Rows whose question and answers lie behind them; two thousand rows' answers would be a slow page."""
NAME_WIDTH = 80
MOVES_WIDTH = 300
QUESTION_WIDTH = 2_000
RATIONALE_WIDTH = 1_500
COMMAND_WIDTH = 300

_SHORT = frozenset({"error", "fail", None})


@dataclass(frozen=True)
class Behind:
    """What a row unfolds to. An answer is null where there is none to show, and `told_*` says why."""

    question: str
    old: Text | None
    new: Text | None
    told_old: str
    told_new: str
    same: bool
    compared: bool
    repeat: str
    rationale: str
    command: str


@dataclass(frozen=True)
class RowView:
    """A row as shown: `state` is the canonical one, for its colour; the rest are words."""

    state: str
    prompt: str
    variant: str
    model: str
    told: str
    scores: str
    plot: Dumbbell
    moves: str
    behind: Behind | None = None


@dataclass(frozen=True)
class Group:
    """Rows under one title, folded or in sight. Where `title` is empty it goes on the one before."""

    title: str
    rows: Sequence[RowView]
    folded: bool = False


def compared_groups(facts: PageFacts, beside: Beside, words: Words) -> list[Group]:
    """What moved first, then what is new and gone, then everything else folded."""
    rows = beside.comparison.rows
    moved = moved_rows(beside.comparison)
    told = {id(row) for row in moved}
    left = [row for row in rows if id(row) not in told]
    sorts = {
        "new": [row for row in left if row.state == "new"],
        "gone": [row for row in left if row.state == "gone"],
        "quiet": [row for row in left if row.state not in {"new", "gone"}],
    }
    views = _views(facts, beside, [*moved, *sorts["new"], *sorts["gone"], *sorts["quiet"]], words)
    groups = list(_in_sight(page_phrase(words, "rows_moved"), _take(views, len(moved)), words))
    groups += _in_sight(page_phrase(words, "rows_new"), _take(views, len(sorts["new"])), words)
    groups += _in_sight(page_phrase(words, "rows_gone"), _take(views, len(sorts["gone"])), words)
    if sorts["quiet"]:
        title = page_phrase(words, "rows_quiet", told=_counted(sorts["quiet"], words))
        groups.append(Group(title, _take(views, len(sorts["quiet"])), folded=bool(groups)))
    return groups


def own_groups(facts: PageFacts, words: Words) -> list[Group]:
    """A run by itself: what fell short first, what passed folded."""
    rows = rows_worst_first(facts.result)
    several = len({row.model for row in rows}) > 1
    views = (
        _own(row, facts, words, several=several, texts=number < ROWS_WITH_TEXTS)
        for number, row in enumerate(rows)
    )
    short = _take(views, sum(row.state in _SHORT for row in rows))
    passed = list(views)
    groups = list(_in_sight(page_phrase(words, "rows_short"), short, words))
    if passed:
        title = page_phrase(words, "rows_passed", n=len(passed))
        groups.append(Group(title, passed, folded=bool(groups)))
    return groups


def _in_sight(title: str, views: Sequence[RowView], words: Words) -> Iterator[Group]:
    if not views:
        return
    yield Group(title, views[:ROWS_IN_SIGHT])
    for first in range(ROWS_IN_SIGHT, len(views), ROWS_IN_SIGHT):
        part = views[first : first + ROWS_IN_SIGHT]
        told = page_phrase(words, "rows_from_to", title=title, first=first + 1, last=first + len(part))
        yield Group(told, part, folded=True)


def _take(views: Iterator[RowView], number: int) -> list[RowView]:
    return [next(views) for _ in range(number)]


def _counted(rows: Sequence[ComparedRow], words: Words) -> str:
    states = Counter(row.state for row in rows)
    return ", ".join(f"{count} {words[state]}" for state, count in states.items())


# A row beside its reference


def _views(facts: PageFacts, beside: Beside, rows: Sequence[ComparedRow], words: Words) -> Iterator[RowView]:
    several = len({row.model for row in rows}) > 1
    for number, row in enumerate(rows):
        view = _compared(row, beside, words, several=several)
        behind = _behind(row, facts, beside, words) if number < ROWS_WITH_TEXTS else None
        yield replace(view, behind=behind)


def _compared(row: ComparedRow, beside: Beside, words: Words, *, several: bool) -> RowView:
    key = (row.model, row.variant, row.prompt)
    plot = dumbbell(
        row.old, row.new, spread=beside.old_draws.get(key, ()), draws=beside.new_draws.get(key, ())
    )
    if row.state == "new":
        scores = percent(row.new, words)
    elif row.state == "gone":
        scores = percent(row.old, words)
    else:
        scores = f"{percent(row.old, words)} → {percent(row.new, words)}"
    return RowView(
        state=row.state,
        prompt=one_line(row.prompt, NAME_WIDTH),
        variant=one_line(row.variant, NAME_WIDTH),
        model=one_line(row.model, NAME_WIDTH) if several else "",
        told=state_words(row, words),
        scores=scores,
        plot=plot,
        moves=one_line(moves_words(row, words), MOVES_WIDTH),
    )


def _behind(row: ComparedRow, facts: PageFacts, beside: Beside, words: Words) -> Behind:
    key = (row.model, row.variant, row.prompt)
    before, after = beside.answers.get(key, ()), facts.answers.get(key, ())
    number, old, new = _pair(before, after)
    same = row.same_answer is True and old == new
    texts = apart(old, new, words) if old is not None and new is not None and not same else None
    return Behind(
        question=one_line_kept(facts.questions.get(row.prompt, ""), QUESTION_WIDTH),
        old=texts[0] if texts else _shown(old, words),
        new=texts[1] if texts else _shown(new, words),
        told_old=page_phrase(words, "answer_missing" if row.state == "new" else "answer_not_kept"),
        told_new=page_phrase(words, "answer_missing"),
        same=same,
        compared=True,
        repeat=_repeat(number, max(len(before), len(after)), words),
        rationale=_rationale(facts, key, number),
        command=_command(facts, row.prompt),
    )


def _pair(before: Sequence[str], after: Sequence[str]) -> tuple[int, str | None, str | None]:
    """The first repeat whose answers differ: its index and both answers."""
    if before and after:
        pairs = list(zip(before, after, strict=False))
        pair = first_change(before, after)
        return pairs.index(pair), *pair
    return 0, before[0] if before else None, after[0] if after else None


# A row by itself


def _own(row: Row, facts: PageFacts, words: Words, *, several: bool, texts: bool) -> RowView:
    return RowView(
        state=row.state or "not_judged",
        prompt=one_line(row.prompt, NAME_WIDTH),
        variant=one_line(row.variant, NAME_WIDTH),
        model=one_line(row.model, NAME_WIDTH) if several else "",
        told=own_state(row, words, "not_judged_yet"),
        scores=percent(row.pct, words),
        plot=dumbbell(None, row.pct),
        moves=one_line(", ".join(fallen_short(row, facts.result, words)), MOVES_WIDTH),
        behind=_own_behind(row, facts, words) if texts else None,
    )


def _own_behind(row: Row, facts: PageFacts, words: Words) -> Behind:
    answers = facts.answers.get(row.key, ())
    return Behind(
        question=one_line_kept(facts.questions.get(row.prompt, ""), QUESTION_WIDTH),
        old=None,
        new=_shown(answers[0] if answers else None, words),
        told_old="",
        told_new=page_phrase(words, "answer_missing"),
        same=False,
        compared=False,
        repeat=_repeat(0, len(answers), words),
        rationale=_rationale(facts, row.key, 0),
        command=_command(facts, row.prompt),
    )


# What both have


def one_line_kept(text: str, width: int) -> str:
    """A text with its lines, cut."""
    return text if len(text) <= width else text[: width - 1] + "…"


def _shown(text: str | None, words: Words) -> Text | None:
    if text is None:
        return None
    return shown(text, words) if text else Text(page_phrase(words, "answer_empty"))


def _repeat(number: int, of: int, words: Words) -> str:
    return page_phrase(words, "repeat_of", n=number + 1, of=of) if of > 1 else ""


def _rationale(facts: PageFacts, key: tuple[str, str, str], number: int) -> str:
    said = facts.rationales.get(key, ())
    return one_line((said[number] if number < len(said) else None) or "", RATIONALE_WIDTH)


def _command(facts: PageFacts, prompt: str) -> str:
    return one_line(shlex.join(["touchstone", "show", facts.result.run.id, prompt]), COMMAND_WIDTH)
