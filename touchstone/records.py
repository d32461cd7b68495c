"""Ground: the base of every record we keep, and the one way it becomes JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from sys import intern
from typing import Any, Self, TypeVar, cast

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from touchstone.errors import BadInputError


def check_schema(document: object, known: int, source: str) -> None:
    """Raise BadInputError where a kept document's schema number is newer than `known`, or no number.

    A missing number, or one that never was, is left to the document's class.
    """
    version = document.get("schema_version") if isinstance(document, dict) else None
    if isinstance(version, bool):
        raise BadInputError(f"{source}: schema_version: a number is due, not true or false")
    if isinstance(version, int) and version > known:
        raise BadInputError(
            f"{source}: schema {version} is newer than this touchstone reads ({known})", "Update touchstone."
        )


class Record(BaseModel):
    """A frozen, fully typed record. Unknown fields are refused: a newer file has a newer schema number."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON values, field aliases applied."""
        return self.model_dump(mode="json", by_alias=True)


class CompactRecord:
    """Base of the records a run has tens of thousands of: slots, where a `Record` holds two dictionaries.

    Subclasses are dataclasses of pydantic, made with COMPACT.
    """

    __slots__: tuple[str, ...] = ()

    @classmethod
    def trusted(cls, **values: Any) -> Self:
        """A record of values known to fit, every field named; nothing is looked at."""
        made = object.__new__(cls)
        for name in fields_of(cls):
            object.__setattr__(made, name, values[name])
        return made

    def replaced(self, **values: Any) -> Self:
        """The record with some fields replaced, unvalidated."""
        made = object.__new__(type(self))
        for name in fields_of(type(self)):
            object.__setattr__(made, name, values[name] if name in values else getattr(self, name))
        return made

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON values, field aliases applied."""
        return cast("dict[str, Any]", _adapter(type(self)).dump_python(self, mode="json", by_alias=True))


_FIELDS: dict[Any, tuple[str, ...]] = {}


def fields_of(kind: type[CompactRecord]) -> tuple[str, ...]:
    """The names of a compact record's fields, inherited ones first."""
    if kind not in _FIELDS:
        slots = [vars(base).get("__slots__", ()) for base in reversed(kind.__mro__)]
        _FIELDS[kind] = tuple(name for names in slots for name in names)
    return _FIELDS[kind]


COMPACT: dict[str, Any] = {
    "frozen": True,
    "slots": True,
    "config": ConfigDict(extra="forbid", populate_by_name=True),
}

AnyRecord = Record | CompactRecord
Kind = TypeVar("Kind", bound=AnyRecord)
Place = tuple[int | str, ...]
"""Keys and indices that lead to a part of a document."""

NO_FIELDS: Mapping[str, type[AnyRecord]] = {}


class Misfit(Exception):  # noqa: N818  a finding for the reader of a file to word
    """The first place where a document is not what its class says, with pydantic's code and message."""

    def __init__(self, place: Place, code: str, message: str) -> None:
        super().__init__(message)
        self.place, self.code = place, code
        self.message = message[:1].lower() + message[1:]

    def __str__(self) -> str:
        return ": ".join(filter(None, [".".join(map(str, self.place)), self.message]))


def record_from(
    kind: type[Kind],
    document: Any,
    long_fields: Mapping[str, type[AnyRecord]] = NO_FIELDS,
    place: Place = (),
) -> Kind:
    """A large document, or the part at `place` of one, as a record. The document is used up.

    Each item of a long field (a list or an object of so many records) takes the place of its JSON, so that
    they do not stand in memory twice. Raises Misfit.
    """
    for field, item_kind in long_fields.items() if isinstance(document, dict) else ():
        items = document.get(field)
        if isinstance(items, (list, dict)):
            for key in list(items) if isinstance(items, dict) else range(len(items)):
                items[key] = _fitted(item_kind, items[key], (*place, field, key))
    return _fitted(kind, document, place)


def share_texts(document: object, fields: Iterable[str]) -> None:
    """In a line that is one of thousands, hold the texts many of them have (and the keys of such an
    object) once.
    """
    if not isinstance(document, dict):
        return
    for name in fields:
        value = document.get(name)
        if isinstance(value, str):
            document[name] = intern(value)
        elif isinstance(value, dict):
            document[name] = {intern(key): item for key, item in value.items()}


_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def _adapter(kind: Any) -> TypeAdapter[Any]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def _fitted(kind: type[Kind], value: object, place: Place) -> Kind:
    try:
        return cast("Kind", _adapter(kind).validate_python(value))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise Misfit((*place, *first["loc"]), first["type"], first["msg"]) from None
