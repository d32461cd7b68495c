"""Texts that fit a terminal: folded between words, columns by the places their letters take."""

from __future__ import annotations

import pytest

from touchstone.render.columns import fitted_text, side_by_side, text_width, wrapped_line

LONG = "The change is within noise: what moved lies below the line that this suite can see at all."


def test_a_line_that_does_not_fit_is_folded_between_words() -> None:
    text = fitted_text(f"short\n    {LONG}\n", 40)
    lines = text.split("\n")
    assert lines[0] == "short"
    assert lines[-1] == ""
    assert max(map(len, lines)) <= 40
    assert lines[1].startswith("    The change")
    assert all(line.startswith("      ") for line in lines[2:-1])
    assert text.split() == ["short", *LONG.split()]


def test_a_text_that_fits_stays_as_it_is() -> None:
    table = "a  b   c\n\n  │ x\n"
    assert fitted_text(table, 80) == table


@pytest.mark.parametrize("text", [LONG, "日本語" * 30, "x" * 100, "    if x:  y = 1  # " + "why " * 20])
def test_two_columns_stay_within_eighty_places(text: str) -> None:
    lines = wrapped_line(text, 37)
    assert max(map(text_width, lines)) <= 37
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(text_width(side_by_side(line, line, 37)) <= 79 for line in lines)
    bars = {text_width(side_by_side(line, "x", 37)) for line in lines}
    assert bars == {43}


def test_an_answer_keeps_how_deep_its_lines_begin() -> None:
    assert wrapped_line("    return 1", 37) == ["    return 1"]
    assert wrapped_line("", 37) == [""]
