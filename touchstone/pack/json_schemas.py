"""Whether a JSON Schema from a pack can be used, and can tell answers apart.

Imported only for packs that hold such a check: the library costs as much as the rest of the start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

import jsonschema
import referencing
from jsonschema.protocols import Validator
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from touchstone.pack.patterns import Fault, compile_fault
from touchstone.yaml_source import quoted

_UNLIKE_VALUES: tuple[Any, ...] = (None, True, 0, "", [], {})
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_INSIDE = "put it under $defs and refer to #/$defs/NAME"


def schema_fault(schema: dict[str, Any]) -> Fault | None:
    """Why a JSON Schema cannot serve: not one, refers to what is not there, or accepts whatever comes."""
    draft = _draft_of(schema)
    if draft is None:
        return Fault("$schema names no JSON Schema draft", "leave it out, or name one such as draft 2020-12")
    try:
        draft.check_schema(schema)
    except jsonschema.SchemaError as error:
        return Fault(f"not a JSON Schema: {quoted(str(error.instance))} cannot stand {_place(error)}")
    return _part_fault(schema) or _acceptance_fault(draft, schema)


def _draft_of(schema: dict[str, Any]) -> type[Validator] | None:
    if "$schema" not in schema:
        return jsonschema.Draft202012Validator
    if not isinstance(schema["$schema"], str):
        return None
    nothing = cast("type[Validator]", None)
    return jsonschema.validators.validator_for({"$schema": schema["$schema"]}, default=nothing)


def _place(error: jsonschema.SchemaError) -> str:
    path = ".".join(str(part) for part in error.absolute_path)
    return f"at {path}" if path else "here"


def _part_fault(schema: dict[str, Any]) -> Fault | None:
    """References must lead to a place in the schema, patterns must compile."""
    home = DRAFT202012.create_resource(schema)
    resolver = referencing.Registry().with_resource("", home).resolver("")
    for key, text in _texts(schema):
        if key == "pattern":
            fault = compile_fault(text)
            if fault:
                return fault
        if key in _REFERENCES:
            if not text.startswith("#"):
                return Fault(f"{quoted(text)} is outside this schema", _INSIDE)
            try:
                resolver.lookup(text)
            except (Unresolvable, ValueError):
                return Fault(f"{quoted(text)} leads nowhere", _INSIDE)
    return None


def _acceptance_fault(draft: type[Validator], schema: dict[str, Any]) -> Fault | None:
    validator = draft(schema, registry=referencing.Registry())
    try:
        accepted = [validator.is_valid(value) for value in _UNLIKE_VALUES]
    except (Unresolvable, RecursionError, re.error, jsonschema.exceptions.UnknownType):
        return Fault("cannot be followed to its end", "remove references that lead back to themselves")
    if all(accepted):
        text = 'accepts null, true, 0, "", [] and {}, so the check cannot fail'
        return Fault(text, "say what is expected, such as type: object")
    return None


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    """Every text below a key, anywhere in the schema; the keys of `patternProperties` count as patterns."""
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str):
                yield key, item
            if key == "patternProperties" and isinstance(item, dict):
                yield from (("pattern", pattern) for pattern in item)
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
