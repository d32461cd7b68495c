"""A tree becomes a model; what pydantic says never reaches a person."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from touchstone.config import Config
from touchstone.pack.schema import Pack
from touchstone.yaml_source import read_document, read_typed, without
from touchstone.yaml_source.typed import Typed
from touchstone.yaml_source.words import NAME_FORMS, limit_words


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Circle(Part):
    kind: Literal["circle"]
    radius: float = Field(gt=0)


class Square(Part):
    kind: Literal["square"]
    side: int


class Drawing(Part):
    schema_: Literal[1] = Field(default=1, alias="schema")
    name: str
    note: str | None = "none yet"
    shapes: list[Annotated[Circle | Square, Field(discriminator="kind")]] = []
    levels: dict[int, str] = {}
    words: dict[str, int] = {}
    free: dict[str, Any] = {}
    lead: Annotated[Circle | Square, Field(discriminator="kind")] | None = None


def test_values_become_what_the_model_wants() -> None:
    typed = _read(
        "name: x\nshapes: [{kind: circle, radius: 2}]\nlevels: {1: one}\nfree: {a: [1, 0.5, null, true, b]}\n"
    )
    assert typed.problems == []
    model = Drawing.model_validate(typed.values)
    assert model.shapes == [Circle(kind="circle", radius=2)]
    assert model.levels == {1: "one"}
    assert model.free == {"a": [1, 0.5, None, True, "b"]}


@pytest.mark.parametrize("written", ["null", "~", ""])
def test_nothing_may_stand_where_nothing_is_allowed(written: str) -> None:
    typed = _read(f"name: x\nnote: {written}\n")
    assert typed.problems == []
    assert typed.values == {"name": "x", "note": None}


def test_a_quoted_word_is_a_text() -> None:
    typed = _read("name: 'no'\nnote: \"null\"\nwords: {'on': 1}\n")
    assert typed.values == {"name": "no", "note": "null", "words": {"on": 1}}


READINGS = """
name: no
1:7: name: a text is due, but YAML can read no as false (quote it: "no")

name:
1:6: name: a text is due and nothing stands here (write a text, or "" for an empty one)

{}
1:1: name is missing (add name: …)

{name: x, nmae: y}
1:11: nmae: unknown key "nmae" (known here: schema, note, shapes, levels, words, free, lead)

{name: x, noet: y}
1:11: noet: unknown key "noet" (did you mean note?)

{name: x, lead: {kind: circle, radius: 0}}
1:40: lead.radius: must be greater than 0

{name: x, lead: {kind: circl}}
1:24: lead.kind: unknown kind "circl" (did you mean circle?)

{name: x, lead: {radius: 1}}
1:11: lead: kind is missing (one of circle, square)

{name: x, lead: round}
1:17: lead: a mapping is due, this is a single value (write kind: …)

{name: x, levels: {one: x}}
1:20: levels.one: as a key: a whole number is due, not one (write it in plain decimal digits, without leading zeros)

{name: x, words: {on: 1}}
1:19: words.on: as a key: a text is due, but YAML can read on as true (quote it: "on")

{name: x, free: {a: {b: no}}}
1:25: free.a.b: YAML versions disagree on no: false, or a text (write false, or quote it: "no")

{name: x, free: {'a b': 08}}
1:25: free["a b"]: YAML versions disagree on 08: a number, or a text (quote it: "08")

{name: x, schema: 3}
1:19: schema: schema 3 is newer than this touchstone knows (1) (upgrade touchstone)

{name: x, schema: 0}
1:19: schema: 1 is due, not 0

{name: x, shapes: {}}
1:11: shapes: a list is due, this is a mapping (write [one, two], or - lines)

- x
1:1: a mapping is due, this is a list (write key: value)
"""  # noqa: E501


@pytest.mark.parametrize("reading", READINGS.strip().split("\n\n"))
def test_a_problem_reads(reading: str) -> None:
    text, line = reading.split("\n")
    assert [str(problem) for problem in _read(text).problems] == [f"f:{line}"]


def test_a_newer_schema_is_the_only_thing_said() -> None:
    assert len(_read("schema: 2\nnew: 1\nshapes: 5\n").problems) == 1


def test_all_problems_come_at_once() -> None:
    typed = _read("nme: x\nshapes:\n  - {kind: circle, radius: -1}\n  - 3\n  - {kind: square, side: 1.5}\n")
    assert [problem.line for problem in sorted(typed.problems, key=lambda p: p.order)] == [1, 1, 3, 4, 5]
    assert typed.model is not None
    assert typed.model.name == ""
    assert [getattr(shape, "kind", None) for shape in typed.model.shapes] == ["circle", None, "square"]


def test_a_lost_value_is_not_reported_twice() -> None:
    typed = _read("name: x\nshapes: [{kind: circle}]\n")
    assert [problem.problem for problem in typed.problems] == ["radius is missing"]
    assert typed.lost == [("shapes", 0, "radius")]


def test_a_repeated_key_explains_its_place() -> None:
    typed = _read("name: [x]\nname: y\n")
    assert [problem.problem for problem in typed.problems] == ['key "name" stands twice']


def test_without_a_key() -> None:
    document = read_document("name: x\nmachine: m\n", "f")
    assert read_typed(without(document, "machine"), Drawing).problems == []
    assert without(document, "absent") is document


def test_every_pattern_of_our_schemas_has_words() -> None:
    assert _patterns(Pack) | _patterns(Config) <= set(NAME_FORMS)


def test_an_unknown_finding_still_reads_plainly() -> None:
    assert limit_words("some_new_kind", {}) == "is not a value that fits here"


_VALUES = st.recursive(
    st.sampled_from(
        ["x", "no", "1", "1.5", "1e3", "", "~", "'q'", "true", "circle", "{}", "[]", "-1", "2026-01-01"]
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]"),
        st.dictionaries(
            st.sampled_from(["kind", "radius", "side", "name", "1", "on", "zz"]), inner, max_size=3
        ).map(lambda pairs: "{" + ", ".join(f"{key}: {value}" for key, value in pairs.items()) + "}"),
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*Drawing.model_fields, "schema", "zz"]), _VALUES, max_size=6))
@settings(max_examples=500, deadline=None)
def test_whatever_stands_where_either_fits_or_is_named(pairs: dict[str, str]) -> None:
    typed = _read("".join(f"{key}: {value}\n" for key, value in pairs.items()))
    if not typed.problems:
        Drawing.model_validate(typed.values)
    for problem in typed.problems:
        assert problem.line is not None
        assert "pydantic" not in str(problem)
        assert "Input" not in str(problem)


def _read(text: str) -> Typed[Drawing]:
    return read_typed(read_document(text, "f"), Drawing)


def _patterns(model: type[BaseModel]) -> set[str]:
    found: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("pattern"), str):
                found.add(value["pattern"])
            # What stands under `not` is explained by the validator that refuses it, in its own words.
            for key, item in value.items():
                if key != "not":
                    walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    walk(model.model_json_schema())
    return found
