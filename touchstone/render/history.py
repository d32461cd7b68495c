"""A baseline's history as a table per cell, with its curve in a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from touchstone.gate.history import Agreed, AgreedCell, History
from touchstone.render import numbers
from touchstone.render.phrases import phrase
from touchstone.render.plain import one_line, visible
from touchstone.render.words import Language, Words

BARS = "▁▂▃▄▅▆▇█"
SPAN_LEAST = 5.0
"""Points the curve's height stands for at least, so that noise does not look like a mountain."""

_MARKS = {True: "✓", False: "✗", None: "–"}


def history_text(history: History, language: Language = "en") -> str:
    """The pack and its file, then each cell: its curve, oldest first, and its commits, newest first."""
    words = Words(language)
    lines = [f"{history.pack} · {history.file}"]
    for key in _cells(history):
        found = [(agreed, _cell_of(agreed, key)) for agreed in history.commits]
        curve = sparkline([cell.pct if cell else None for _, cell in reversed(found)])
        lines += ["", f"{key[0]} · {key[1]}  {curve}"]
        lines += [f"  {_line(agreed, cell, words)}" for agreed, cell in found if cell]
    lines += ["", *_faults(history, words)] if any(agreed.fault for agreed in history.commits) else []
    return "".join(visible(line) + "\n" for line in lines)


def sparkline(values: Sequence[float | None]) -> str:
    """One bar per value; a gap where there is none."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    middle = (max(known) + min(known)) / 2
    span = max(max(known) - min(known), SPAN_LEAST)
    return "".join(" " if value is None else _bar((value - middle) / span + 0.5) for value in values)


def _bar(share: float) -> str:
    return BARS[min(len(BARS) - 1, int(share * len(BARS)))]


def _cells(history: History) -> list[tuple[str, str]]:
    keys = [(cell.model, cell.variant) for agreed in history.commits for cell in agreed.cells]
    return list(dict.fromkeys(keys))


def _cell_of(agreed: Agreed, key: tuple[str, str]) -> AgreedCell | None:
    return next((cell for cell in agreed.cells if (cell.model, cell.variant) == key), None)


def _line(agreed: Agreed, cell: AgreedCell, words: Words) -> str:
    prompt = cell.prompt_sha256.removeprefix("sha256:")[:12] if cell.prompt_sha256 else words["na"]
    parts = [
        agreed.date,
        agreed.commit[:12],
        numbers.percent(cell.pct, words),
        _MARKS[cell.safety],
        f"{words.inline('prompt')} {prompt}",
    ]
    if agreed.trials:
        parts.append(phrase(words, "trials_short", worse=agreed.trials_worse, trials=agreed.trials))
    why = one_line(agreed.reason or agreed.subject, 60)
    return "  ".join([*parts, f"{one_line(agreed.author, 40)}: {why}"])


def _faults(history: History, words: Words) -> Iterator[str]:
    for agreed in history.commits:
        if agreed.fault is not None:
            told = phrase(words, "removed") if agreed.fault == "removed" else agreed.fault
            yield f"{agreed.date}  {agreed.commit[:12]}  {one_line(agreed.author, 40)}: {one_line(told)}"
