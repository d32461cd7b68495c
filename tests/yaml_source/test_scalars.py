"""One grammar for plain scalars, whatever YAML version a library speaks."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from touchstone.yaml_source.scalars import (
    ScalarError,
    boolean_of,
    integer_of,
    number_of,
    reading,
    text_of,
    value_of,
)

RETYPED = """
no No NO off Off on On yes Yes y Y n N true True TRUE false null Null NULL ~ = <<
0 -1 +5 42 007 0089 0123 0o17 0b101 0x1F -0x1f 1_000 190:20:30 12:30 1:1 190:20:30.15
1.5 -0.5 .5 5. 1e3 1E3 1e-1 1.5e+3 -1.e5 .inf -.Inf +.INF .nan .NaN
2026-01-01 2026-1-1 2001-12-14t21:59:43.10-05:00
"""
TEXTS = """
hello none nil yess offline v1.2.3 1.2.3 1-2 12:ab 0x 0b2 0xg e3 1e - -- + . .. .5.5 1,5 50%
a:b A1 -a 12:61 2026-01 10.0.0.1 _1 -_ nano inf NaN
"""


@pytest.mark.parametrize("text", RETYPED.split())
def test_Y03_Y05_Y07_what_a_yaml_version_would_retype_is_no_text(text: str) -> None:
    with pytest.raises(ScalarError) as refused:
        text_of(text)
    assert refused.value.hint == f'quote it: "{text}"'
    assert text in refused.value.problem


@pytest.mark.parametrize("text", TEXTS.split())
def test_what_all_agree_on_is_a_text(text: str) -> None:
    assert text_of(text) == text


@given(st.text(alphabet="0123456789abcdefxonyuTFNEe.+-_:~=<TtZ ", min_size=1, max_size=12).map(str.strip))
@settings(max_examples=1000)
def test_nothing_the_common_library_retypes_passes_as_a_text(text: str) -> None:
    """PyYAML's own resolver is one of the readers we must be stricter than."""
    loader: Any = yaml.SafeLoader("")
    tag = loader.resolve(yaml.ScalarNode, text, (True, False))
    if text and tag != "tag:yaml.org,2002:str":
        assert reading(text) is not None


CORE_SCHEMA = re.compile(
    r"null|Null|NULL|~|true|True|TRUE|false|False|FALSE|[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
    r"|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)
"""The resolution table of YAML 1.2's core schema."""


@given(st.text(alphabet="0123456789abcdefxonulTFNEe.+-~", min_size=1, max_size=8))
@settings(max_examples=1000)
def test_nothing_yaml_1_2_retypes_passes_as_a_text(text: str) -> None:
    if CORE_SCHEMA.fullmatch(text):
        assert reading(text) is not None


@pytest.mark.parametrize(
    ("text", "value"), [("0", 0), ("42", 42), ("-7", -7), ("18446744073709551615", 2**64 - 1)]
)
def test_whole_numbers(text: str, value: int) -> None:
    assert integer_of(text) == value
    assert number_of(text) == value


@pytest.mark.parametrize(("text", "value"), [("0.1", 0.1), ("-2.50", -2.5), ("10.0", 10.0)])
def test_numbers_with_decimals(text: str, value: float) -> None:
    assert number_of(text) == value
    assert isinstance(number_of(text), float)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("1e3", "write 1000"),
        ("1e-1", "write 0.1"),
        ("0x10", "write 16"),
        ("0o17", "write 15"),
        ("0b11", "write 3"),
        ("1_000", "write 1000"),
        ("+5", "write 5"),
        (".5", "write 0.5"),
        ("5.", "write 5"),
        ("1e-7", "write 0.0000001"),
        ("012", "write it in plain decimal digits, without leading zeros"),
        (".nan", "write it in plain decimal digits, without leading zeros"),
        ("1e999", "write it in plain decimal digits, without leading zeros"),
        ("0x" + "f" * 100, "write it in plain decimal digits, without leading zeros"),
        ("9" * 10_000, "write it in plain decimal digits, without leading zeros"),
        ("twelve", "write it in plain decimal digits, without leading zeros"),
    ],
)
def test_Y09_a_number_has_one_spelling(text: str, hint: str) -> None:
    with pytest.raises(ScalarError) as refused:
        number_of(text)
    assert refused.value.hint == hint
    assert len(refused.value.problem) < 150


def test_a_whole_number_has_no_decimals() -> None:
    with pytest.raises(ScalarError) as refused:
        integer_of("3.0")
    assert refused.value.hint == "write 3"
    with pytest.raises(ScalarError):
        integer_of("3.5")
    with pytest.raises(ScalarError):
        integer_of(str(2**64))


@pytest.mark.parametrize(
    ("text", "hint"), [("yes", "write true"), ("Off", "write false"), ("1", "write true or false")]
)
def test_truth_has_one_spelling(text: str, hint: str) -> None:
    assert boolean_of("true") is True
    assert boolean_of("false") is False
    with pytest.raises(ScalarError) as refused:
        boolean_of(text)
    assert refused.value.hint == hint


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("3", 3),
        ("0.5", 0.5),
        ("word", "word"),
        ("-0", 0),
    ],
)
def test_where_anything_may_stand(text: str, value: Any) -> None:
    assert value_of(text) == value
    assert type(value_of(text)) is type(value)


@pytest.mark.parametrize("text", ["no", "1e3", "08", "12:30", "2026-01-01", "True", "0x1F", ".inf", "y"])
def test_where_anything_may_stand_the_disputed_still_may_not(text: str) -> None:
    with pytest.raises(ScalarError):
        value_of(text)


@given(st.text(max_size=60))
@settings(max_examples=300)
def test_any_text_gives_a_value_or_a_named_fault(text: str) -> None:
    for read in (text_of, integer_of, number_of, boolean_of, value_of):
        with contextlib.suppress(ScalarError):
            read(text)
