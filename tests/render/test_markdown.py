from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.render.markdown import block, code, escaped, table


@pytest.mark.parametrize(
    "text",
    [
        "@someone please look", "fixes #12", "![x](https://evil.example/x.png)", "[a](javascript:alert(1))",
        "<img src=x onerror=alert(1)>", "a | b | c", "https://evil.example", "www.evil.example", "~~gone~~",
        "**bold** _it_ `code`", "&lt;b&gt;", "$x$",
    ],
)  # fmt: skip
def test_escaped_text_has_no_live_construct(text: str) -> None:
    shown = escaped(text)
    assert not re.search(r"(?<!\\)[<>`*_|\[\]!$~]", shown)
    assert not re.search(r"@\w", shown)
    assert not re.search(r"#\d", shown)
    assert "://" not in shown.replace("\u200b:", "")
    assert "www." not in shown


def test_a_mail_address_keeps_its_characters() -> None:
    assert escaped("me@example.org").replace("\u200b", "") == "me@example.org"


@given(st.text())
def test_a_block_cannot_be_closed_by_its_text(text: str) -> None:
    lines = block(text)
    fence = lines[-1]
    assert set(fence) == {"`"}
    assert all(not line.strip().startswith(fence) for line in lines[1:-1])


@given(st.text())
def test_code_in_a_table_cell_adds_no_cell(text: str) -> None:
    row = table(["a"], [[code(text)]])[2]
    assert row.count("|") - row.count("\\|") == 2


def test_code_keeps_backticks_inside() -> None:
    assert code("a`b") == "``a`b``"
    assert code("`x`") == "`` `x` ``"
