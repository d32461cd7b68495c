"""One row in full: the question, the reference's answer and the run's, and what was said of each."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.baseline.sides import Side
from touchstone.render import numbers
from touchstone.render.plain import one_line, visible
from touchstone.render.words import Language, Words
from touchstone.result.schema import Repeat, Row


def row_text(new: Side, old: Side | None, prompt: str, variant: str | None, language: Language = "en") -> str:
    """Every model and variant of one prompt; `variant` narrows it."""
    words = Words(language)
    lines = [f"{words['prompt']} {prompt}", *_indented(new.suite.cases[prompt].input)]
    for row in new.draws[new.typical]:
        if row.prompt == prompt and variant in {None, row.variant}:
            lines += ["", f"{row.model} · {row.variant}"]
            if old is not None:
                lines += _reference(old, row.key, words)
            lines += _side("run", row, _texts(new, row.key), words)
    return "".join(visible(line) + "\n" for line in lines)


def _reference(old: Side, key: tuple[str, str, str], words: Words) -> list[str]:
    draws = [row for draw in old.draws for row in draw if row.key == key]
    if not draws:
        return [f"  reference: {words['na']}"]
    lines = _side("reference", draws[old.typical], _texts(old, key), words)
    spread = ", ".join(numbers.percent(row.pct, words) for row in draws)
    return [*lines, f"  its {len(draws)} runs: {spread}"]


def _side(name: str, row: Row, texts: list[str], words: Words) -> list[str]:
    state = words[row.state] if row.state else words["na"]
    lines = [f"  {name}: {numbers.percent(row.pct, words)}, {state}"]
    for index, repeat in enumerate(row.repeats):
        lines += [f"    {said}" for said in _said(repeat)]
        if index < len(texts):
            lines += [f"    | {line}" for line in texts[index].split("\n")]
    return lines


def _said(repeat: Repeat) -> Iterator[str]:
    if repeat.scores:
        yield " · ".join(f"{dimension} {score}" for dimension, score in repeat.scores.items())
    if repeat.red_flag:
        yield "red flag"
    for name, check in repeat.checks.items():
        yield f"{name}: {check.status}"
    if repeat.reason:
        yield repeat.reason
    if repeat.detail:
        yield one_line(repeat.detail, 200)


def _texts(side: Side, key: tuple[str, str, str]) -> list[str]:
    return list((side.answers or {}).get(key, []))


def _indented(text: str) -> list[str]:
    return [f"  | {line}" for line in text.split("\n")]
