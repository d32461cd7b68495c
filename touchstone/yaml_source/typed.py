"""From a document tree to a pydantic model: what type is due decides how a plain scalar is read.

Shapes find unknown keys, missing keys and wrong types, each with its place; pydantic then checks limits
and forms, and what it finds is put into our own words. Every problem of a file is found in one go.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from touchstone.yaml_source.nodes import Document, Listing, Mapping, Node, Scalar
from touchstone.yaml_source.problem import KeyPath, Problem
from touchstone.yaml_source.scalars import ScalarError, integer_of
from touchstone.yaml_source.shapes import Findings, shape_of
from touchstone.yaml_source.words import limit_words

ModelT = TypeVar("ModelT", bound=BaseModel)


@dataclass(frozen=True)
class Typed(Generic[ModelT]):
    """A document read as a model.

    `values` is what could be read, as plain values, and `model` the same as a model; both are null when
    nothing could. Where `problems` is empty the model is whole. Else it may be a draft: unchecked, empty
    where something is missing, None where an item of a list could not be read, so that rules across
    fields can still be looked at. `lost` names the places of which nothing is known.
    """

    values: dict[str, Any] | None
    model: ModelT | None
    problems: list[Problem]
    lost: list[KeyPath]


def read_typed(document: Document, model: type[ModelT]) -> Typed[ModelT]:
    """Read a document as `model`, collecting every problem."""
    findings = Findings(document, list(document.problems))
    if document.root is None:
        return Typed(None, None, findings.problems, [()])
    newer = _newer_schema(document, model)
    if newer:
        return Typed(None, None, [newer], [()])
    shape = shape_of(model)
    values = shape.read(document.root, (), findings)
    if not isinstance(values, dict):
        return Typed(None, None, findings.problems, [()])
    whole = _checked(model, values, findings)
    return Typed(values, whole or shape.draft(values), findings.problems, findings.lost)


def without(document: Document, key: str) -> Document:
    """The document without one of its top-level keys."""
    root = document.root
    if not isinstance(root, Mapping) or key not in root.entries:
        return document
    kept = {name: entry for name, entry in root.entries.items() if name != key}
    return Document(document.file, document.text, Mapping(root.place, kept), document.problems)


def path_of(location: Iterable[str | int], root: Node | None) -> KeyPath:
    """A key path from one of pydantic's locations: names of union members, which no file holds, left out."""
    node, path = root, []
    for part in location:
        if isinstance(node, Mapping) and str(part) in node.entries:
            node = node.entries[str(part)].value
        elif isinstance(node, Listing) and isinstance(part, int) and part < len(node.items):
            node = node.items[part]
        else:
            continue
        path.append(part)
    return tuple(path)


def _checked(model: type[ModelT], values: dict[str, Any], findings: Findings) -> ModelT | None:
    """The model, or null with every limit noted that the values break."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        faults = error.errors(include_url=False)
    for fault in faults:
        path = path_of(fault["loc"], findings.document.root)
        if fault["type"] != "missing" and not _inside(path, findings.lost):
            findings.note(path, limit_words(fault["type"], fault.get("ctx", {})))
    if not findings.problems:
        findings.note((), "does not fit the schema")
    return None


def _inside(path: KeyPath, lost: Iterable[KeyPath]) -> bool:
    return any(path[: len(place)] == place for place in lost)


def _newer_schema(document: Document, model: type[BaseModel]) -> Problem | None:
    """One clear sentence where the file is of a later touchstone, whose other keys cannot be judged."""
    newest = max(get_args(model.model_fields["schema_"].annotation))
    node = document.node_at(("schema",))
    if not isinstance(node, Scalar) or not node.plain:
        return None
    try:
        number = integer_of(node.text)
    except ScalarError:
        return None
    if number <= newest:
        return None
    return document.problem(
        ("schema",), f"schema {number} is newer than this touchstone knows ({newest})", "upgrade touchstone"
    )
