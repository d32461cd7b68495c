"""Shapes: a model's annotations, compiled into what reads a node of that type.

Every shape reads a node into the plain value pydantic expects, and can build a *draft*: the same value
without any check, used when a file is faulty but its other rules should still be looked at. In a draft a
list holds None where an item could not be read.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, Literal, Protocol, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from touchstone.yaml_source.nodes import Document, Entry, Listing, Mapping, Node, Scalar
from touchstone.yaml_source.problem import KeyPath, Problem, quoted
from touchstone.yaml_source.scalars import (
    NULL_WORDS,
    ScalarError,
    boolean_of,
    integer_of,
    number_of,
    reading,
    text_of,
    value_of,
)


class Lost:
    """The type of LOST, which stands for a value that could not be read."""


LOST = Lost()


@dataclass
class Findings:
    """What is wrong so far, and the places whose value was lost over it."""

    document: Document
    problems: list[Problem] = field(default_factory=list)
    lost: list[KeyPath] = field(default_factory=list)

    def __post_init__(self) -> None:
        # What reading found at a place explains whatever else is odd there.
        self._explained = {problem.path for problem in self.document.problems if problem.path}

    def note(self, path: KeyPath, text: str, hint: str | None = None, *, key: bool = False) -> None:
        """Note a problem at a key path (`key`: at the key itself)."""
        problem = self.document.problem(path, text, hint, key=key)
        if problem.path not in self._explained:
            self.problems.append(problem)

    def refuse(self, path: KeyPath, text: str, hint: str | None = None) -> Lost:
        """Note a problem and give up the value."""
        self.note(path, text, hint)
        self.lost.append(path)
        return LOST


class Shape(Protocol):
    """What a value must look like."""

    def read(self, node: Node, path: KeyPath, findings: Findings) -> Any:
        """The plain value, or LOST with the problem noted."""
        ...

    def draft(self, value: Any) -> Any:
        """The value as it stands in a model, unchecked."""
        ...

    def empty(self) -> Any:
        """What stands in a draft where the value is missing."""
        ...


@cache
def shape_of(annotation: Any) -> Shape:
    """The shape of an annotation; the kinds our schemas use and no others."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _Model(annotation)
    build = _BUILDERS.get(get_origin(annotation))
    return build(*get_args(annotation)) if build else _PLAIN[annotation]


@dataclass(frozen=True)
class _Plain:
    """A text, number or truth value. `of` reads a plain scalar by the strict grammar."""

    due: str
    of: Callable[[str], Any]
    nothing: Any

    def read(self, node: Node, path: KeyPath, findings: Findings) -> Any:
        if not isinstance(node, Scalar):
            return findings.refuse(path, f"{self.due} is due, this is {_kind(node)}")
        if not node.plain:
            hint = "remove the quotes"
            return findings.refuse(path, f"{self.due} is due, this is a text in quotes", hint)
        try:
            return self.of(node.text)
        except ScalarError as error:
            return findings.refuse(path, error.problem, error.hint)

    def draft(self, value: Any) -> Any:
        return value

    def empty(self) -> Any:
        return self.nothing


class _Text(_Plain):
    def read(self, node: Node, path: KeyPath, findings: Findings) -> Any:
        if not isinstance(node, Scalar):
            return findings.refuse(path, f"a text is due, this is {_kind(node)}")
        if not node.plain:
            return node.text
        try:
            return self.of(node.text)
        except ScalarError as error:
            if reading(node.text) == "null":
                return findings.refuse(path, error.problem, error.hint)
            # What was meant is plain, so rules about this text can still be looked at.
            findings.note(path, error.problem, error.hint)
            return node.text


class _Anything:
    """Free-form content: request fields passed on, a JSON Schema."""

    def read(self, node: Node, path: KeyPath, findings: Findings) -> Any:
        if isinstance(node, Listing):
            return [self._item(item, (*path, index), findings) for index, item in enumerate(node.items)]
        if isinstance(node, Mapping):
            return _FREE.read(node, path, findings)
        if not node.plain:
            return node.text
        try:
            return value_of(node.text)
        except ScalarError as error:
            return findings.refuse(path, error.problem, error.hint)

    def _item(self, node: Node, path: KeyPath, findings: Findings) -> Any:
        value = self.read(node, path, findings)
        return None if value is LOST else value

    def draft(self, value: Any) -> Any:
        return value

    def empty(self) -> Any:
        return None


@dataclass(frozen=True)
class _Choice:
    """One of a few words, or one number."""

    values: tuple[Any, ...]

    def read(self, node: Node, path: KeyPath, findings: Findings) -> Any:
        if not isinstance(node, Scalar):
            return findings.refuse(path, f"{self._due()} is due, this is {_kind(node)}")
        if isinstance(self.values[0], int):
            return self._number(node, path, findings)
        if node.text in self.values:
            return node.text
        near = get_close_matches(node.text, self.values, 1)
        hint = f"did you mean {near[0]}?" if near else None
        return findings.refuse(path, f"{self._due()} is due, not {quoted(node.text)}", hint)

    def _number(self, node: Scalar, path: KeyPath, findings: Findings) -> Any:
        value = shape_of(int).read(node, path, findings)
        if value is LOST or value in self.values:
            return value
        return findings.refuse(path, f"{self._due()} is due, not {value}")

    def _due(self) -> str:
        words = [str(value) for value in self.values]
        return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"

    def draft(self, value: Any) -> Any:
        return value

    def empty(self) -> Any:
        return self.values[0]


@dataclass(frozen=True)
class _Nullable:
    inner: Shape

    def read(self, node: Node, path: KeyPath, findings: Findings) -> Any:
        if _is_nothing(node):
            return None
        return self.inner.read(node, path, findings)

    def draft(self, value: Any) -> Any:
        return None if value is None else self.inner.draft(value)

    def empty(self) -> Any:
        return None


@dataclass(frozen=True)
class _ListOf:
    item: Shape

    def read(self, node: Node, path: KeyPath, findings: Findings) -> Any:
        if not isinstance(node, Listing):
            return findings.refuse(
                path, f"a list is due, this is {_kind(node)}", "write [one, two], or - lines"
            )
        values = [self.item.read(item, (*path, index), findings) for index, item in enumerate(node.items)]
        return [None if value is LOST else value for value in values]

    def draft(self, value: Any) -> Any:
        return [None if item is None else self.item.draft(item) for item in value]

    def empty(self) -> Any:
        return []


@dataclass(frozen=True)
class _MapOf:
    key: Shape
    value: Shape

    def read(self, node: Node, path: KeyPath, findings: Findings) -> Any:
        if not isinstance(node, Mapping):
            return findings.refuse(path, f"a mapping is due, this is {_kind(node)}", "write key: value")
        values = {}
        for text, entry in node.entries.items():
            key = self._key(entry, (*path, text), findings)
            value = self.value.read(entry.value, (*path, text), findings)
            if key is not LOST and value is not LOST:
                values[key] = value
        return values

    def _key(self, entry: Entry, path: KeyPath, findings: Findings) -> Any:
        at_key = Findings(Document(findings.document.file, "", entry.key, []))
        key = self.key.read(entry.key, (), at_key)
        for problem in at_key.problems:
            findings.note(path, f"as a key: {problem.problem}", problem.hint, key=True)
        if key is LOST:
            findings.lost.append(path)
        return key

    def draft(self, value: Any) -> Any:
        return {key: self.value.draft(item) for key, item in value.items()}

    def empty(self) -> Any:
        return {}


class _Model:
    """A mapping with known keys."""

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model
        self._fields = {info.alias or name: (name, info) for name, info in model.model_fields.items()}
        self._shapes = {key: shape_of(_annotation(info)) for key, (_, info) in self._fields.items()}

    def read(self, node: Node, path: KeyPath, findings: Findings) -> Any:
        if not isinstance(node, Mapping):
            return findings.refuse(path, f"a mapping is due, this is {_kind(node)}", "write key: value")
        values = {}
        for key, entry in node.entries.items():
            shape = self._shapes.get(key)
            if shape is None:
                findings.note((*path, key), f"unknown key {quoted(key)}", self._nearest(key, node), key=True)
                continue
            value = shape.read(entry.value, (*path, key), findings)
            if value is not LOST:
                values[key] = value
        self._note_missing(node, path, findings)
        return values

    def _note_missing(self, node: Mapping, path: KeyPath, findings: Findings) -> None:
        for key, (_, info) in self._fields.items():
            if info.is_required() and key not in node.entries:
                findings.note(path, f"{key} is missing", f"add {key}: …", key=True)
                findings.lost.append((*path, key))

    def _nearest(self, key: str, node: Mapping) -> str:
        unused = [name for name in self._fields if name not in node.entries]
        near = get_close_matches(key, unused, 1)
        if " " in key and not near:
            return "quote a text that holds a comma"
        return f"did you mean {near[0]}?" if near else f"known here: {', '.join(unused)}"

    def draft(self, value: Any) -> Any:
        filled: dict[str, Any] = {}
        for key, (name, info) in self._fields.items():
            shape = self._shapes[key]
            if key in value:
                filled[name] = shape.draft(value[key])
            else:
                filled[name] = (
                    shape.empty() if info.is_required() else info.get_default(call_default_factory=True)
                )
        return self._model.model_construct(**filled)

    def empty(self) -> Any:
        return self.draft({})


@dataclass(frozen=True)
class _Tagged:
    """One of several models, told apart by the word under `tag`."""

    tag: str
    models: dict[str, _Model]

    @classmethod
    def of(cls, union: Any, tag: str) -> _Tagged:
        members = get_args(union)
        return cls(
            tag, {get_args(member.model_fields[tag].annotation)[0]: _Model(member) for member in members}
        )

    def read(self, node: Node, path: KeyPath, findings: Findings) -> Any:
        if not isinstance(node, Mapping):
            return findings.refuse(path, f"a mapping is due, this is {_kind(node)}", f"write {self.tag}: …")
        entry = node.entries.get(self.tag)
        names = ", ".join(self.models)
        if entry is None:
            return findings.refuse(path, f"{self.tag} is missing", f"one of {names}")
        word = entry.value.text if isinstance(entry.value, Scalar) else ""
        if word in self.models:
            return self.models[word].read(node, path, findings)
        near = get_close_matches(word, self.models, 1)
        hint = f"did you mean {near[0]}?" if near else f"one of {names}"
        findings.lost.append(path)
        return findings.refuse((*path, self.tag), f"unknown {self.tag} {quoted(word)}", hint)

    def draft(self, value: Any) -> Any:
        return self.models[value[self.tag]].draft(value)

    def empty(self) -> Any:
        return None


_PLAIN: dict[Any, Shape] = {
    str: _Text("a text", text_of, ""),
    int: _Plain("a whole number", integer_of, 0),
    float: _Plain("a number", number_of, 0.0),
    bool: _Plain("true or false", boolean_of, False),
    Any: _Anything(),
}
_FREE = _MapOf(_PLAIN[str], _PLAIN[Any])


def _annotated(inner: Any, *marks: Any) -> Shape:
    tag = next((mark.discriminator for mark in marks if isinstance(mark, FieldInfo)), None)
    return _Tagged.of(inner, str(tag)) if tag else shape_of(inner)


def _union(*members: Any) -> Shape:
    kept = [member for member in members if member is not types.NoneType]
    return _Nullable(shape_of(kept[0]))


_BUILDERS: dict[Any, Callable[..., Shape]] = {
    Annotated: _annotated,
    Union: _union,
    types.UnionType: _union,
    Literal: lambda *values: _Choice(values),
    list: lambda item: _ListOf(shape_of(item)),
    dict: lambda key, value: _MapOf(shape_of(key), shape_of(value)),
}


def _annotation(info: FieldInfo) -> Any:
    """A field's annotation; pydantic moves a discriminator on the field itself out of it."""
    if info.discriminator:
        return Annotated[info.annotation, info]
    return info.annotation


def _kind(node: Node) -> str:
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Listing):
        return "a list"
    return "nothing" if _is_nothing(node) else "a single value"


def _is_nothing(node: Node) -> bool:
    return isinstance(node, Scalar) and node.plain and node.text in NULL_WORDS
