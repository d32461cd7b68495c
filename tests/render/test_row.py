"""One row in full, as `show` prints it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.kit.builders import Outcome, judged_suite, result
from touchstone.gate.beside import RowBeside, RowSide, SaidOf
from touchstone.render.row import row_text

SUITE = judged_suite(["A"])


def side(outcome: Outcome, answer: str | None, rationale: str | None = None) -> RowSide:
    """A row of one repeat and one draw."""
    (row,) = result(SUITE, {"A": outcome}).rows
    said = [SaidOf(answer=answer, verdict=repeat, rationale=rationale) for repeat in row.repeats]
    return RowSide(pct=row.pct, state=row.state, draws=[row.pct], repeats=said)


def told(run: RowSide, reference: RowSide | None = None, **options: Any) -> str:
    row = RowBeside(
        model="m", variant="none", prompt="A", question="Why?\nSay.", reference=reference, run=run
    )
    return row_text([row], **options)


def test_a_cut_answer_says_so_above_its_scores() -> None:
    whole, cut = Outcome([4, 5]), replace(Outcome([4, 5]), status="truncated")
    assert "truncated" not in told(side(whole, "Because."))
    lines = [line.strip() for line in told(side(cut, "Becau")).splitlines()]
    assert lines.index("truncated") == lines.index("Q1 4 · Q2 5") - 1
    assert "abgeschnitten" in told(side(cut, "Becau"), language="de")


def test_question_and_answer_are_quoted_line_by_line() -> None:
    text = told(side(Outcome([4, 5]), "First.\nSecond."))
    assert text.startswith("Prompt A\n  | Why?\n  | Say.\n")
    assert "    | First.\n    | Second.\n" in text


def test_what_is_not_known_is_not_available() -> None:
    error = Outcome(verdict="error", reason="no_json")
    assert "run: n/a, error" in told(side(error, None)).lower()
    assert "reference: n/a" in told(side(error, None)).lower()


@pytest.mark.parametrize("hostile", ["\x1b[31mred\x1b[0m", "a\rb", "\u202eevil"])
def test_no_text_reaches_the_terminal_as_a_command(hostile: str) -> None:
    text = told(side(Outcome([4, 5]), hostile, hostile), side(Outcome([4, 5]), hostile))
    assert not set("\x1b\r\u202e") & set(text)
