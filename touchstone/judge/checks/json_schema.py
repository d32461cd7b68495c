"""`json_schema`: the answer is JSON that satisfies a schema. Nothing outside the schema is ever read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, cast

import jsonschema
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from touchstone.judge.checks.finding import Answer, CannotCheckError, Finding
from touchstone.judge.checks.json_text import NotJsonError, parsed
from touchstone.judge.checks.patterns import first_match
from touchstone.judge.visible import visible
from touchstone.pack.checks import JsonSchema

KEY_CHARS_MAX = 1_000
"""The library matches property names with the deaf kind of search; short ones cannot hold it up."""


def run(check: JsonSchema, answer: Answer) -> Finding:
    """Parse the answer and validate it; the detail names the place of the first fault."""
    try:
        value = parsed(answer.text, allow_fence=check.allow_fence)
    except NotJsonError as error:
        return Finding(0.0, str(error))
    _refuse_long_keys(value)
    try:
        fault = next(_validator(json.dumps(check.schema_, sort_keys=True)).iter_errors(value), None)
    except Unresolvable as error:
        raise CannotCheckError(f"$ref cannot be resolved: {visible(str(error.ref))}") from None
    if fault is None:
        return Finding(1.0, "satisfies the schema")
    return Finding(0.0, f"{visible(fault.json_path)}: {visible(fault.message)}")


@lru_cache(maxsize=256)
def _validator(schema_text: str) -> Validator:
    schema = json.loads(schema_text)
    kind = _kind(schema.pop("$schema", None))
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise CannotCheckError(f"the schema is not valid: {visible(error.message)}") from None
    interruptible = extend(kind, {"pattern": _pattern})  # type: ignore[no-untyped-call]
    nothing: Registry[Any] = Registry()
    validator: Validator = interruptible(schema, registry=nothing)
    return validator


def _kind(dialect: str | None) -> type[Validator]:
    if dialect is None:
        return jsonschema.Draft202012Validator
    kind: type[Validator] | None = validator_for({"$schema": dialect}, default=cast(Any, None))
    if kind is None:
        raise CannotCheckError(f"unknown $schema: {visible(dialect)}")
    return kind


def _pattern(
    _validator: Validator, pattern: str, instance: Any, _schema: Any
) -> Iterator[jsonschema.ValidationError]:
    if isinstance(instance, str) and first_match(pattern, instance) is None:
        yield jsonschema.ValidationError(f"“{visible(instance, 40)}” does not match “{visible(pattern, 40)}”")


def _refuse_long_keys(value: Any) -> None:
    level = [value]
    while level:
        item = level.pop()
        if isinstance(item, dict):
            if any(len(key) > KEY_CHARS_MAX for key in item):
                raise CannotCheckError(f"a property name is longer than {KEY_CHARS_MAX} characters")
            level.extend(item.values())
        elif isinstance(item, list):
            level.extend(item)
