"""The base of kept records: the small ones, the many ones, and a large document read an item at a time."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from pydantic.dataclasses import dataclass

from touchstone.records import COMPACT, CompactRecord, Misfit, Record, record_from


@dataclass(**COMPACT)
class Line(CompactRecord):
    """One of many."""

    id: str
    scores: dict[str, int]
    note: str | None = None


class Document(Record):
    """Holds many."""

    title: str
    lines: list[Line]
    by_id: dict[str, Line]


def document(**fields: Any) -> dict[str, Any]:
    line = {"id": "a", "scores": {"Q1": 4}}
    return {"title": "t", "lines": [dict(line), line | {"id": "b"}], "by_id": {"a": dict(line)}} | fields


LONG: dict[str, Any] = {"lines": Line, "by_id": Line}


def test_a_compact_record_has_no_dictionary_and_cannot_be_changed() -> None:
    line = Line(id="a", scores={"Q1": 4})
    assert not hasattr(line, "__dict__")
    with pytest.raises(dataclasses.FrozenInstanceError):
        line.id = "b"
    assert line.to_json() == {"id": "a", "scores": {"Q1": 4}, "note": None}


def test_replacing_a_field_leaves_the_others_and_the_original() -> None:
    line = Line(id="a", scores={"Q1": 4})
    other = line.replaced(note="n")
    assert (other.id, other.scores, other.note, line.note) == ("a", {"Q1": 4}, "n", None)
    assert line.replaced() == line
    assert Line.trusted(id="a", scores={"Q1": 4}, note=None) == line


def test_a_document_read_item_by_item_is_the_same_as_one_read_at_once() -> None:
    given = document()
    items = given["lines"]
    found = record_from(Document, given, LONG)
    assert found == Document.model_validate(document())
    assert all(isinstance(item, Line) for item in items), "each took the place of its JSON"


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"lines": [{"id": "a", "scores": {"Q1": "x"}}]}, ("lines", 0, "scores", "Q1")),
        ({"lines": [{"id": "a", "scores": {}}, 7]}, ("lines", 1)),
        ({"by_id": {"a": {"id": "a", "scores": {}, "more": 1}}}, ("by_id", "a", "more")),
        ({"lines": "none"}, ("lines",)),
        ({"title": None}, ("title",)),
    ],
)
def test_a_misfit_names_its_place(fields: dict[str, Any], place: tuple[Any, ...]) -> None:
    with pytest.raises(Misfit) as caught:
        record_from(Document, document(**fields), LONG)
    assert caught.value.place == place
    assert caught.value.message[0].islower()


def test_a_part_of_a_document_is_placed_in_the_whole() -> None:
    with pytest.raises(Misfit) as caught:
        record_from(Document, document(title=None), LONG, ("suite",))
    assert str(caught.value).startswith("suite.title: input should be ")
    with pytest.raises(Misfit) as caught:
        record_from(Document, None)
    assert caught.value.place == ()
