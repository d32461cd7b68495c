"""Thinking inside the content."""

from __future__ import annotations

import pytest

from touchstone.engine.thinking import thinking_of


@pytest.mark.parametrize(
    ("text", "visible", "chars", "note"),
    [
        ("Paris.", "Paris.", 0, None),
        ("<think>hm</think>\n\nParis.", "Paris.", 2, None),
        ("\n <think>\nhm\n</think>Paris.", "Paris.", 2, None),
        ("<think>a</think><think>bc</think> Paris.", "Paris.", 3, None),
        ("<thinking>hm</thinking>Paris.", "Paris.", 2, None),
        ("[THINK]hm[/THINK]Paris.", "Paris.", 2, None),
        ("<think></think>Paris.", "Paris.", 0, None),
        ("<think>hm", "", 2, "thinking_unclosed"),
        ("<think>", "", 0, "thinking_unclosed"),
        ("hm, hm\n</think>\n\nParis.", "Paris.", 6, "thinking_unopened"),
        ("</think>\nParis.", "Paris.", 0, "thinking_unopened"),
    ],
)
def test_thinking_is_split_off(text: str, visible: str, chars: int, note: str | None) -> None:
    thinking = thinking_of(text)
    assert (text[thinking.start :], thinking.chars, thinking.note) == (visible, chars, note)


@pytest.mark.parametrize(
    "text",
    [
        "Use <think> tags.",
        "The tag </think> ends it.",
        "Tags:\n</think> ends it.",
        "a <think>b</think> c",
        "  indented",
        "",
        " \n",
        "<thinker>x",
    ],
)
def test_tags_inside_an_answer_and_plain_space_belong_to_the_answer(text: str) -> None:
    assert thinking_of(text) == (0, 0, None)
