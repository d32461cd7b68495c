"""One row in full: the question, the reference's answer and the run's, and what was said of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from touchstone.gate.beside import RowBeside, RowSide, SaidOf
from touchstone.render import numbers
from touchstone.render.columns import folded_lines
from touchstone.render.phrases import phrase
from touchstone.render.plain import one_line, visible
from touchstone.render.reasons import verdict_reason
from touchstone.render.words import Language, Words
from touchstone.result.schema import Repeat


def row_text(rows: Sequence[RowBeside], language: Language = "en") -> str:
    """The prompt once, then every model and variant of it."""
    words = Words(language)
    lines = [f"{words['prompt']} {rows[0].prompt}", *_quoted(rows[0].question, 2)] if rows else []
    for row in rows:
        lines += ["", f"{row.model} · {row.variant}"]
        lines += _side(phrase(words, "old_answer"), row.reference, words)
        lines += _side(phrase(words, "new_answer"), row.run, words)
    return "".join(visible(line) + "\n" for line in lines)


def _side(name: str, side: RowSide | None, words: Words) -> Iterator[str]:
    if side is None:
        yield f"  {name}: {words['na']}"
        return
    state = words[side.state] if side.state else words["na"]
    yield f"  {name}: {numbers.percent(side.pct, words)}, {state}"
    for repeat in side.repeats:
        yield from _said_of(repeat, words)
    if len(side.draws) > 1:
        spread = ", ".join(numbers.percent(pct, words) for pct in side.draws)
        yield "    " + phrase(words, "all_draws", n=len(side.draws), spread=spread)


def _said_of(said: SaidOf, words: Words) -> Iterator[str]:
    for line in _verdict(said.verdict, words):
        yield f"    {line}"
    if said.rationale:
        yield from folded_lines(visible(f"{words['judge']}: {one_line(said.rationale, 400)}"), " " * 4)
    if said.answer is not None:
        yield from _quoted(said.answer, 4)


def _verdict(repeat: Repeat, words: Words) -> Iterator[str]:
    if repeat.status == "truncated":
        yield words["truncated"]
    if repeat.scores:
        yield " · ".join(f"{dimension} {score}" for dimension, score in repeat.scores.items())
    if repeat.red_flag:
        yield phrase(words, "red_flag")
    for name, check in repeat.checks.items():
        yield f"{name}: {words[check.status]}"
    if repeat.reason:
        yield verdict_reason(repeat.reason, words)
    if repeat.detail:
        yield one_line(repeat.detail, 200)


def _quoted(text: str, by: int) -> list[str]:
    return [f"{' ' * by}| {line}" for line in text.split("\n")]
