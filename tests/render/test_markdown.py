from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.hostile import HOSTILE, SNIPPETS
from tests.kit.markdown import live, parsed, shape, shown
from touchstone.render.markdown import block, code, escaped, folded, html_code, sentence, table
from touchstone.render.plain import one_line

hostile = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
pasted = st.lists(st.sampled_from(SNIPPETS) | st.text(max_size=20), max_size=6).map("".join)


@hostile
def test_escaped_text_has_no_live_construct(text: str) -> None:
    assert live(escaped(text)) == []
    assert live(f"A word, then {escaped(text)} and a word.") == []


@given(pasted)
def test_no_mixture_of_hostile_texts_is_live(text: str) -> None:
    assert live(escaped(text)) == []


@hostile
def test_escaped_text_reads_as_it_was(text: str) -> None:
    assert shown(escaped(text)) == one_line(text)


@given(pasted)
def test_escaping_loses_no_letter(text: str) -> None:
    assert shown(escaped(text)) == one_line(text)


@pytest.mark.parametrize("between", ["{}", " {} ", "`{}", "\\{}", "[{}](https://x.invalid)", "#{}", "1. {}"])
@hostile
def test_a_sentence_with_commits_is_as_inert_as_one_without(text: str, between: str) -> None:
    told = between.format("0123456789ab").join([text[:100], text[:100]])
    assert set(live(sentence(told))) <= {"code_inline"}
    assert "\n" not in sentence(told)


def test_commits_and_digests_of_a_sentence_can_be_copied() -> None:
    commit = "3b485829bd1b"
    assert (
        sentence(f"The merge of {commit} into {commit * 2}.")
        == f"The merge of `{commit}` into `{commit * 2}`."
    )
    assert sentence("1. of all") == "1\\. of all"


@hostile
def test_escaped_text_stays_in_its_table_cell(text: str) -> None:
    told = "\n".join(table(["a", "b"], [[escaped(text), code(text)], ["x", "y"]]))
    assert shape(told) == shape("\n".join(table(["a", "b"], [["x", "`x`"], ["x", "y"]])))


@given(pasted)
def test_no_mixture_breaks_a_table(text: str) -> None:
    told = "\n".join(table(["a", "b"], [[escaped(text), code(text)], ["x", "y"]]))
    assert shape(told) == shape("\n".join(table(["a", "b"], [["x", "`x`"], ["x", "y"]])))


@hostile
def test_a_block_holds_its_text_and_what_follows_is_outside(text: str) -> None:
    _is_held(text)


@given(pasted)
def test_a_block_holds_any_mixture(text: str) -> None:
    _is_held(text)


def _is_held(text: str) -> None:
    tokens = parsed("\n".join([*folded("<code>x</code>", block(text)), "", "after"]))
    assert [token.type for token in tokens] == [
        "html_block", "fence", "html_block", "paragraph_open", "inline", "paragraph_close",
    ]  # fmt: skip
    assert tokens[1].content == "".join(line + "\n" for line in block(text)[1:-1])


@hostile
def test_inline_code_is_code_to_its_end(text: str) -> None:
    _is_code(text)


@given(pasted)
def test_inline_code_holds_any_mixture(text: str) -> None:
    _is_code(text)


def _is_code(text: str) -> None:
    (inline,) = (token for token in parsed(f"x {code(text)} y") if token.type == "inline")
    assert [child.type for child in inline.children or ()] == ["text", "code_inline", "text"]


@hostile
def test_a_summary_is_one_line_of_code(text: str) -> None:
    lines = folded(html_code(text), ["inside"])
    assert lines[1].count("<") == lines[1].count(">") == 4
    assert "\n" not in lines[1]
    assert html.unescape(lines[1]) == f"<summary><code>{one_line(text)}</code></summary>"


@pytest.mark.parametrize("text", ["/assign @octocat", "x\n  /lgtm\n\t/approve"])
def test_no_line_of_a_block_is_an_order_to_a_program(text: str) -> None:
    assert not any(line.lstrip().startswith("/") for line in block(text))
    assert not escaped(text).startswith("/")


def test_C07_a_mail_address_keeps_its_characters() -> None:
    assert escaped("me@example.org").replace("\u200b", "") == "me@example.org"


def test_names_and_numbers_of_ours_can_be_copied() -> None:
    for name in ("20260505T080000Z_pack_000001", "SmolLM2-135M-Instruct", "qwen2.5-7b:q4", "80.0 % → 60.0 %"):
        assert escaped(f"x {name}").replace("\\_", "_") == f"x {name}"


@given(st.text())
def test_code_in_a_table_cell_adds_no_cell(text: str) -> None:
    row = table(["a"], [[code(text)]])[2]
    assert row.count("|") - row.count("\\|") == 2


def test_code_keeps_backticks_inside() -> None:
    assert code("a`b") == "``a`b``"
    assert code("`x`") == "`` `x` ``"


def test_no_text_grows_beyond_measure() -> None:
    for text in HOSTILE.values():
        for told in (escaped(text), "\n".join(block(text)), code(text)):
            assert len(told) <= 14 * len(text) + 20, "a character becomes an escape at most"
