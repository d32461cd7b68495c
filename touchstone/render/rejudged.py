"""What today's judge makes of stored answers, in words."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.baseline.comparison import JudgeMoved
from touchstone.render import numbers
from touchstone.render.phrases import phrase
from touchstone.render.plain import visible
from touchstone.render.words import Words

_MARKS = {True: "✓", False: "✗", None: "–"}


def judge_moved_lines(moved: Sequence[JudgeMoved], words: Words) -> list[str]:
    """A head and a line per cell, old → new; nothing where nothing was judged again."""
    if not moved:
        return []
    return [f"{words['judge_moved']} ({moved[0].run}):", *(visible(_cell(cell, words)) for cell in moved)]


def _cell(cell: JudgeMoved, words: Words) -> str:
    scores = f"{numbers.percent(cell.old, words)} → {numbers.percent(cell.new, words)}"
    if cell.old is not None and cell.new is not None:
        moved = numbers.points(cell.new - cell.old, words)
        scores += f"  {phrase(words, 'points', points=moved)}"
    safety = ""
    if cell.safety[0] is not cell.safety[1]:
        safety = f" · {words.inline('safety')} {_MARKS[cell.safety[0]]} → {_MARKS[cell.safety[1]]}"
    return f"  {cell.model} · {cell.variant}: {scores}{safety}"
