"""What a promotion says: what is shown first, what was refused and why, and what was kept."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.baseline.promote import Note
from touchstone.baseline.refusals import Refusal
from touchstone.baseline.schema import Baseline, KeptCell
from touchstone.render import numbers
from touchstone.render.phrases import counted, phrase
from touchstone.render.plain import visible
from touchstone.render.words import Language, Words


def notes_text(notes: Sequence[Note]) -> str:
    """What a person should see before the promotion, diffs indented."""
    lines = [
        line for note in notes for line in [f"note: {note.what}", *(f"    {line}" for line in note.lines)]
    ]
    return "".join(visible(line) + "\n" for line in lines)


def refusals_text(refusals: Sequence[Refusal]) -> str:
    """Every reason at once, each with its way out."""
    lines = [f"not promoted: {len(refusals)} {'reason' if len(refusals) == 1 else 'reasons'}"]
    for refusal in refusals:
        lines += [f"- {refusal.what}", f"  → {refusal.way_out}"]
    return "".join(visible(line) + "\n" for line in lines)


def promoted_text(baseline: Baseline, replaces: Baseline | None, language: Language = "en") -> str:
    """What is agreed to now: cells old → new and the runs behind them."""
    words = Words(language)
    before = {(cell.model, cell.variant): cell for cell in replaces.cells} if replaces else {}
    runs = counted(words, "runs", len(baseline.runs))
    lines = [phrase(words, "promoted", pack=baseline.pack.id, runs=runs, date=baseline.date)]
    lines += [f"  {_cell(cell, before.get((cell.model, cell.variant)), words)}" for cell in baseline.cells]
    return "".join(visible(line) + "\n" for line in lines)


def _cell(cell: KeptCell, before: KeptCell | None, words: Words) -> str:
    new = numbers.percent(cell.quality.pct, words)
    old = f"{numbers.percent(before.quality.pct, words)} → " if before else ""
    level = f" ({words[cell.quality.rubric_level]})" if cell.quality.rubric_level else ""
    return f"{cell.model} · {cell.variant}: {old}{new}{level}"
