"""Long texts: nothing of them is lost but what is said to be, and only what differs is marked."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given

from touchstone.baseline.comparison import TextDiff
from touchstone.render.page.texts import (
    ANSWER_CHARACTERS,
    DIFF_LINES_MAX,
    MARKED_SHARE_MAX,
    Text,
    apart,
    diff,
    shown,
)
from touchstone.render.words import Words

EN = Words("en")
WORDS = st.lists(st.sampled_from(["a", "bb", "c\n", "déjà", " ", "\t"]), max_size=30).map(" ".join)


def whole(text: Text) -> str:
    return text.start + text.middle + text.end


@given(WORDS, WORDS)
def test_no_letter_is_lost_or_made_up(old: str, new: str) -> None:
    for text, told in zip((old, new), apart(old, new, EN), strict=True):
        assert whole(told) == text
        assert len(told.middle) <= MARKED_SHARE_MAX * len(text)


@given(WORDS, WORDS)
def test_what_is_not_marked_stands_in_the_other_text_too(old: str, new: str) -> None:
    for told, other in zip(apart(old, new, EN), (new, old), strict=True):
        if told.middle:
            assert other.startswith(told.start)
            assert other.endswith(told.end)


def test_whole_words_are_marked() -> None:
    old, new = apart("A late book costs 20 cents a day.", "A late book costs 25 cents a day.", EN)
    assert (old.middle, new.middle) == ("20", "25")


def test_two_other_texts_are_not_coloured_all_over() -> None:
    old, new = apart("one thing entirely", "something else, really", EN)
    assert not old.middle
    assert not new.middle


def test_the_same_text_twice_has_no_mark() -> None:
    assert apart("the same", "the same", EN) == (Text("the same"), Text("the same"))


def test_a_long_text_is_cut_and_says_by_how_much() -> None:
    text = "a" * (ANSWER_CHARACTERS + 7)
    for told in (shown(text, EN), *apart(text, "b" + text, EN)):
        assert len(whole(told)) == ANSWER_CHARACTERS
        assert told.more in {"… and 7 more characters", "… and 8 more characters"}


def test_a_diff_knows_its_kinds_of_lines_and_folds_what_is_no_prompt() -> None:
    lines = ["@@ -1 +1 @@", "-old", "+new", " same"] + [" x"] * DIFF_LINES_MAX
    told = diff(TextDiff(kind="variant", id="house", lines=lines), EN)
    assert [kind for kind, _ in told.lines[:4]] == ["hunk", "del", "add", "same"]
    assert told.more == "… and 4 more lines"
    assert told.open
    assert told.title == "Prompt of variant house, old → new"
    assert not diff(TextDiff(kind="rubric", id="C1", lines=lines), EN).open
