from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.hostile import HOSTILE
from touchstone.render.plain import for_log, one_line, visible

HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\u202eb", "a\\u202eb"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("line\u2028line", "line\\u2028line"),
        ("bell\x07 \x9b2J", "bell\\x07 \\x9b2J"),
        ("tab\tnew\nline", "tab\tnew\nline"),
        ("Größe 那个 ✓ é", "Größe 那个 ✓ é"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_control_and_bidirectional_characters_become_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_nothing_hidden_survives(text: str) -> None:
    left = {unicodedata.category(c) for c in visible(text) if c not in "\n\t\u200c\u200d"}
    assert not left & HIDDEN


@given(st.text(), st.integers(1, 50))
def test_one_line_is_one_line_and_fits(text: str, width: int) -> None:
    line = one_line(text, width)
    assert "\n" not in line
    assert len(line) <= width


def test_one_line_cuts_with_an_ellipsis() -> None:
    assert one_line("a  long\n\ttext", 8) == "a long…"


def test_a_cut_beginning_is_marked_even_where_little_of_it_is_left() -> None:
    assert one_line("a" + " " * 5000 + "b", 8) == "a…"


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_line_of_a_log_is_a_command(text: str) -> None:
    for line in for_log(text).split("\n"):
        assert not line.lstrip().startswith("::")
        assert "##[" not in line


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_takes_no_ink_is_written_out(text: str) -> None:
    assert not set(visible(text)) & set("\u034f\u115f\u1160\u2800\u3164\uffa0\ufffe\uffff\U000e0101")
