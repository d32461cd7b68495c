"""Each check type, once passing and once not, and what keeps it from either."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from touchstone.judge.checks import Answer, run_check, run_label, runner_of
from touchstone.judge.checks.levenshtein import distance
from touchstone.judge.checks.numeric import readings
from touchstone.judge.checks.patterns import matches
from touchstone.pack.checks import Check, CheckBase
from touchstone.pack.schema import LabelExtract, Labels

CHECK: TypeAdapter[Any] = TypeAdapter(Check)
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 1}, "s": {"pattern": "^x"}},
    "required": ["n"],
}

CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"type": "equals", "value": "Yes."}, "Yes. \n", "Yes"),
    ({"type": "equals", "value": "Straße", "ignore_case": True}, "STRASSE", "Strasse!"),
    ({"type": "equals", "value": "Größe 5", "normalize": True}, "Gro\u0308ße \n 5", "größe 5"),
    ({"type": "contains", "value": "Wien"}, "in Wien.", "in wien."),
    ({"type": "contains", "value": "wien", "ignore_case": True}, "in WIEN.", "in Graz."),
    ({"type": "not_contains", "value": "sorry"}, "Sorry", "so sorry"),
    ({"type": "not_contains", "value": "sorry", "ignore_case": True}, "fine", "Sorry"),
    ({"type": "starts_with", "value": "Dear"}, "  Dear Ms", "My Dear"),
    ({"type": "ends_with", "value": "regards"}, "kind regards\n\n", "regards, me"),
    ({"type": "regex", "pattern": r"\b\d{4}\b"}, "in 1999", "in 19999"),
    ({"type": "regex", "pattern": r"^b$(?m:x?)"}, "b", "ab"),
    ({"type": "not_regex", "pattern": r"(?i)as an ai"}, "Here.", "As an AI"),
    ({"type": "count", "pattern": r"(?m)^- ", "min": 2, "max": 3}, "- a\n- b", "- a"),
    ({"type": "count", "pattern": "a", "max": 2}, "banal", "banana"),
    ({"type": "length", "unit": "chars", "max": 3}, "äöü  \n", "abcd"),
    ({"type": "length", "unit": "words", "min": 2, "max": 3}, "one  two", "one"),
    ({"type": "length", "unit": "lines", "max": 2}, "a\nb\n\n", "a\n\nb"),
    ({"type": "json"}, ' {"a": [1]} ', "{'a': 1}"),
    ({"type": "json"}, "[]", '```json\n{"a": 1}\n```'),
    ({"type": "json"}, "null", '{"a": 1} and more'),
    ({"type": "json"}, "0.5", '{"a": NaN}'),
    ({"type": "json"}, '"x"', '{"a": 1, "a": 2}'),
    ({"type": "json", "allow_fence": True}, '```json\n{"a": 1}\n```\n', "```\n{}\n```\n```\n{}\n```"),
    ({"type": "json_schema", "schema": SCHEMA}, '{"n": 2, "s": "xy"}', '{"n": 0}'),
    ({"type": "json_schema", "schema": SCHEMA}, '{"n": 1}', '{"n": 1, "s": "y"}'),
    ({"type": "json_schema", "schema": SCHEMA}, '{"n": 1.0}', "no JSON"),
    ({"type": "json_schema", "schema": SCHEMA, "allow_fence": True}, '```\n{"n": 1}\n```', "```\n{}\n```"),
    ({"type": "json_schema", "schema": {"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}}}, "null", "1"),
    ({"type": "numeric", "value": 42}, "It is 42, not 43.", "It is 43, not 42."),
    ({"type": "numeric", "value": 0.3, "within": 0.1}, "about 0.4", "about 0.41"),
    ({"type": "numeric", "value": -5}, "−5 °C", "5 °C"),
    ({"type": "numeric", "value": 3.14}, "π ≈ 3,14", "π ≈ 3,15"),
    ({"type": "numeric", "value": 1234567.5}, "1.234.567,5 €", "1.234.567,4 €"),
    ({"type": "numeric", "value": 7, "pattern": r"total: (\S+)"}, "5, total: 7", "total: 8"),
    ({"type": "numeric", "value": 7}, "**7**", "seven"),
    ({"type": "levenshtein", "value": "kitten hat"}, "kitten hut", "sitting"),
    ({"type": "levenshtein", "value": "abcde", "threshold": 1}, "abcde \n", "abcdx"),
    ({"type": "tokens", "max": 10}, "short", "long"),
    ({"type": "latency", "ttft_max_s": 1.0, "e2e_max_s": 5.0}, "short", "long"),
]


def answer(text: str) -> Answer:
    """The answer to look at; counts and times are small for every text but `long`."""
    many = text == "long"
    return Answer(text, 11 if many else 10, 1.5 if many else 0.5, 2.0)


@pytest.mark.parametrize(("fields", "good", "bad"), CASES, ids=lambda value: str(value)[:40])
def test_each_check_passes_and_fails(fields: dict[str, Any], good: str, bad: str) -> None:
    check = CHECK.validate_python(fields)
    passed, failed = run_check(check, answer(good)), run_check(check, answer(bad))
    assert (passed.status, failed.status) == ("pass", "fail"), (passed.detail, failed.detail)
    assert passed.score is not None
    assert failed.score is not None
    assert passed.score > failed.score
    assert passed.id == fields["type"]


def test_every_check_type_of_a_pack_has_a_runner_and_a_case() -> None:
    types = {get_args(kind.model_fields["type"].annotation)[0] for kind in get_args(get_args(Check)[0])}
    assert len({runner_of(kind) for kind in types}) == len(types)
    assert {fields["type"] for fields, _, _ in CASES} == types


ERRORS: list[tuple[dict[str, Any], Answer, str]] = [
    ({"type": "regex", "pattern": "("}, Answer("x"), "pattern"),
    ({"type": "regex", "pattern": "(" * 3000 + ")" * 3000}, Answer("x"), "pattern"),
    ({"type": "regex", "pattern": "x"}, Answer("y" * 1_000_001), "too many"),
    ({"type": "tokens", "max": 10}, Answer("x"), "counted no"),
    ({"type": "latency", "ttft_max_s": 1.0}, Answer("x", e2e_s=1.0), "not measured"),
    ({"type": "latency"}, Answer("x"), "no limit"),
    ({"type": "json"}, Answer("[" * 100_000), "deeply"),
    ({"type": "json"}, Answer("9" * 5000), "digits"),
    ({"type": "json_schema", "schema": {"type": "strange"}}, Answer("{}"), "schema is not valid"),
    ({"type": "json_schema", "schema": {"$schema": "http://x/"}}, Answer("{}"), "unknown $schema"),
    ({"type": "json_schema", "schema": {"$ref": "#/nowhere"}}, Answer("{}"), "$ref"),
    ({"type": "json_schema", "schema": {"$ref": "#"}}, Answer("{}"), "RecursionError"),
    ({"type": "json_schema", "schema": {"patternProperties": {"(": True}}}, Answer('{"a": 1}'), ""),
    ({"type": "json_schema", "schema": {"pattern": "("}}, Answer('"a"'), "not a 'regex'"),
    ({"type": "json_schema", "schema": SCHEMA}, Answer('{"' + "k" * 1001 + '": 1}'), "property name"),
    ({"type": "numeric", "value": 1234}, Answer("1.234"), "1.234 or 1234"),
    ({"type": "numeric", "value": 1.234}, Answer("1.234"), "1.234 or 1234"),
    ({"type": "numeric", "value": 1234}, Answer("1 234 pieces"), "1234 or 1"),
    ({"type": "numeric", "value": 12}, Answer("at 12:30"), "known form"),
    ({"type": "numeric", "value": 2026}, Answer("2026-05-04"), "known form"),
    ({"type": "numeric", "value": 1}, Answer("1/2"), "known form"),
    ({"type": "numeric", "value": 1}, Answer("1e999999999"), ""),
    ({"type": "numeric", "value": 1}, Answer("1" * 500), "known form"),
]


@pytest.mark.parametrize(("fields", "given_answer", "said"), ERRORS, ids=lambda value: str(value)[:40])
def test_a_check_that_cannot_run_is_an_error(fields: dict[str, Any], given_answer: Answer, said: str) -> None:
    verdict = run_check(CHECK.validate_python(fields), given_answer)
    assert (verdict.status, verdict.score) == ("error", None)
    assert said in verdict.detail


def test_an_ambiguous_number_is_decided_where_both_readings_agree() -> None:
    check = CHECK.validate_python({"type": "numeric", "value": 5})
    assert run_check(check, Answer("1.234")).status == "fail"


@pytest.mark.parametrize(
    ("token", "numbers"),
    [
        ("42", [42]),
        ("+7", [7]),
        (".5", [0.5]),
        ("3.14", [3.14]),
        ("0.125", [0.125]),
        ("1.2345", [1.2345]),
        ("1,234", [1.234, 1234]),
        ("1,234.5", [1234.5]),
        ("1.234.567", [1234567]),
        ("1’000", [1000]),
        ("1_000_000", [1000000]),
        ("1\u202f000,5", [1000.5]),
        ("-2.5e3", [-2500]),
        ("1.2.3", []),
        ("12,34,567", []),
        ("1,234,5", []),
        ("1e2e3", []),
        ("x", []),
    ],
)
def test_number_grammar(token: str, numbers: list[float]) -> None:
    assert [float(number) for number in readings(token)] == numbers


def test_latency_alone_is_only_listed() -> None:
    kinds = [kind for kind in get_args(get_args(Check)[0]) if issubclass(kind, CheckBase)]
    assert [get_args(kind.model_fields["type"].annotation)[0] for kind in kinds if not kind.counts] == [
        "latency"
    ]


def test_a_score_at_the_threshold_passes_as_the_record_keeps_it() -> None:
    check = CHECK.validate_python({"type": "levenshtein", "value": "abc", "threshold": 0.666667})
    verdict = run_check(check, Answer("abx"))
    assert (verdict.score, verdict.status) == (0.666667, "pass")


def test_details_are_short_and_show_control_characters() -> None:
    check = CHECK.validate_python({"type": "equals", "value": "x"})
    detail = run_check(check, Answer("\x1b[31m\u202ered\n" + "y" * 500)).detail
    assert "\\x1b[31m\\u202ered\\n" in detail
    assert detail.isprintable()
    assert len(detail) < 200


LABELS = Labels(
    classes=["relevant", "other"],
    positive="relevant",
    extract=LabelExtract(regex=r"class:\s*(\w+)", ignore_case=True),
)


@pytest.mark.parametrize(
    ("text", "status", "label"),
    [
        ("Class: RELEVANT.", "pass", "relevant"),
        ("class: other", "fail", "other"),
        ("no idea", "error", None),
        ("class: maybe", "error", None),
    ],
)
def test_label(text: str, status: str, label: str | None) -> None:
    verdict, found = run_label(LABELS, "relevant", Answer(text))
    assert (verdict.id, verdict.status, found) == ("label", status, label)


def test_label_takes_the_whole_match_where_there_is_no_group_and_minds_the_case() -> None:
    labels = Labels(classes=["A", "B"], positive="A", extract=LabelExtract(regex=r"\b[AB]\b"))
    assert run_label(labels, "A", Answer("It is A."))[1] == "A"
    assert run_label(labels, "A", Answer("It is a."))[1] is None


@given(st.text("ab c", max_size=12), st.text("ab c", max_size=12))
def test_distance_is_that_of_the_plain_table(one: str, other: str) -> None:
    row = list(range(len(other) + 1))
    for index, char in enumerate(one, start=1):
        above, row = row, [index]
        for place, against in enumerate(other):
            row.append(min(above[place + 1] + 1, row[place] + 1, above[place] + (char != against)))
    assert distance(one, other) == row[-1]


@given(
    st.sampled_from(["a", "a+", "ab|a", "(?<=a)b", r"\bb", "(?m)^a", "b$", "(?i)A"]),
    st.text("ab\n", max_size=15),
)
def test_matches_are_those_of_the_library(pattern: str, text: str) -> None:
    ours = [found.span() for found in matches(pattern, text)]
    assert ours == [found.span() for found in re.finditer(pattern, text)]
