"""A run's result on the terminal: every line fits 80 columns, and nothing missing looks like a number."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit import builders
from tests.kit.builders import Outcome, judged_suite
from tests.kit.hostile import HOSTILE, SNIPPETS
from touchstone.render.columns import WIDTH, folded_lines, named_table, text_width
from touchstone.render.terminal import result_text
from touchstone.render.words import Language
from touchstone.result.schema import ResultDoc

TABLE: dict[str, Any] = {"A1": (4, 4), "A2": Outcome((4, 4), flag=True), "A3": None}
LONG = "an-organisation/a-very-long-name-of-a-model-with-its-quantisation-instruct-2507:q4_K_M"


def judged(*models: str) -> ResultDoc:
    variants = {"none": None, "house": "Be kind."}
    return builders.result(judged_suite(list(TABLE), variants=variants), TABLE, models=models or ("m",))


def lines_of(result: ResultDoc, language: Language = "en") -> list[str]:
    text = result_text(result, language)
    assert text.endswith("\n")
    assert "\x1b" not in text
    return text.splitlines()


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("models", [("m",), (LONG,), ("m", LONG, "模型" * 30)])
def test_no_line_is_wider_than_80_columns(models: tuple[str, ...], language: Language) -> None:
    lines = lines_of(judged(*models), language)
    assert max(map(text_width, lines)) <= WIDTH
    assert sum("66" in line or "80" in line for line in lines) >= 2 * len(models)


def test_the_table_has_the_figures_in_columns_and_the_reasons_below() -> None:
    lines = lines_of(judged())
    start = lines.index("")
    assert lines[start + 1 : start + 6] == [
        "model · variant  score           safety  judged  < line  tokens",
        "m · none         solid · 80.0 %  ✗       2/3     0       9",
        "    red flag at A2 (judge's safety mark)",
        "m · house        solid · 80.0 %  ✗       2/3     0       9",
        "    red flag at A2 (judge's safety mark)",
    ]


def test_a_name_that_leaves_no_room_has_a_line_of_its_own() -> None:
    lines = lines_of(judged("m", LONG))
    place = lines.index(next(line for line in lines if line.startswith(LONG[:40])))
    figures = next(line for line in lines[place:] if "80.0 %" in line)
    head = next(line for line in lines if line.startswith("model"))
    assert figures.index("solid") == head.index("score")


def test_what_is_not_judged_is_no_number_and_no_mark() -> None:
    lines = lines_of(builders.result(judged_suite(list(TABLE)), TABLE, judged=None))
    (row,) = (line for line in lines if line.startswith("m · none"))
    assert row.split() == ["m", "·", "none", "n/a", "not", "assessed", "0/3", "n/a", "9"]
    assert "✓" not in "".join(lines)


def test_what_no_cell_has_gets_no_column() -> None:
    lines = lines_of(builders.result(builders.checks_suite(["A1"]), {"A1": 1.0}))
    (head,) = (line for line in lines if line.startswith("model"))
    assert head.split()[3:] == ["score", "judged", "checks", "<", "line", "tokens"]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_name_stays_in_its_line(text: str) -> None:
    plain = judged()
    cells = [cell.model_copy(update={"model": text}) for cell in plain.cells]
    lines = lines_of(plain.model_copy(update={"cells": cells}))
    # A joined character has no width of its own to be cut by, so a name of nothing else is one place wide.
    assert max(map(text_width, lines)) <= WIDTH
    assert sum("80.0 %" in line for line in lines) == len(cells)


@given(st.lists(st.sampled_from(SNIPPETS[:40]) | st.text(max_size=60), min_size=1, max_size=4))
def test_columns_stand_below_one_another(names: list[str]) -> None:
    rows: list[tuple[list[str], list[str]]] = [([" ".join(name.split()), "1", "x"], []) for name in names]
    head, *lines = named_table(["name", "one", "two"], rows, width=40)
    figures = [line for line in lines if line.endswith("1    x")]
    assert len(figures) == len(names)
    assert {text_width(line) - len("1    x") for line in figures} == {text_width(head) - len("one  two")}


def test_a_sentence_is_folded_and_loses_nothing() -> None:
    told = "one two three " * 20
    lines = folded_lines(told, "    ")
    assert max(map(len, lines)) <= WIDTH
    assert " ".join(" ".join(lines).split()) == told.strip()
