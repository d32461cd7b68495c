"""`touchstone schema`: the JSON Schemas of the files people write and programs read.

They are made from the very classes that read those files. The published ones lie in `schemas/`
(`make schemas`); a pack names its own in a comment, and editors complete and check it as it is typed.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import textwrap
from collections.abc import Container
from typing import Any, NamedTuple

import click
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from touchstone.baseline.comparison import Comparison
from touchstone.baseline.schema import Baseline
from touchstone.cli.options import silent_option
from touchstone.config import Config
from touchstone.files import json_pretty
from touchstone.pack.schema import Pack
from touchstone.result.schema import ResultDoc

DRAFT = "https://json-schema.org/draft/2020-12/schema"


class Kind(NamedTuple):
    """A kind of file: the class that reads it, its schema's title, and whether people write it as YAML."""

    model: type[BaseModel]
    title: str
    is_yaml: bool = False


KINDS: dict[str, Kind] = {
    "pack": Kind(Pack, "touchstone pack (packs/*.yaml)", is_yaml=True),
    "config": Kind(Config, "touchstone settings (touchstone.yaml)", is_yaml=True),
    "result": Kind(ResultDoc, "touchstone result (result.json)"),
    "baseline": Kind(Baseline, "touchstone baseline (baselines/*/*.json)"),
    "comparison": Kind(Comparison, "touchstone comparison (comparison.json)"),
}

PASSED_OVER = {
    "machine": {
        "deprecated": True,
        "description": "No longer used and passed over: chip, memory and system are detected.",
    }
}
"""Keys of an older form that a YAML file may still hold, whatever their value."""

WHOLE_NUMBER_KEY = {"pattern": "^(0|-?[1-9][0-9]*)$"}


@click.command(epilog="Example: touchstone schema pack > schemas/pack.json")
@click.argument("kind", required=False, type=click.Choice(list(KINDS)))
@silent_option
def command(kind: str | None) -> None:
    """Print the JSON Schema (draft 2020-12) of a kind of file; without KIND, the kinds there are.

    A schema knows keys, types and limits. `touchstone validate` knows more: names that lead nowhere,
    checks that cannot fail, texts that YAML would read as something else.
    """
    click.echo(json_pretty(schema_of(kind), sort_keys=False) if kind else "\n".join(KINDS) + "\n", nl=False)


def schema_of(name: str) -> dict[str, Any]:
    """The JSON Schema of one of KINDS, as plain JSON values."""
    kind = KINDS[name]
    schema = kind.model.model_json_schema(schema_generator=_Generator)
    if kind.is_yaml:
        schema["properties"] |= PASSED_OVER
    return {"$schema": DRAFT, "$id": f"{name}.json", **schema, "title": kind.title}


class _Generator(GenerateJsonSchema):
    """pydantic's generator, and what it leaves out: what a field's docstring says, keys that are numbers.

    Method names are pydantic's: one for each kind of node.
    """

    def model_schema(self, schema: Any) -> dict[str, Any]:
        """A class as an object, each property described by the text that stands below its field."""
        made = super().model_schema(schema)
        fields = schema["cls"].model_fields
        for name, text in _field_texts(schema["cls"], fields).items():
            made["properties"][fields[name].alias or name].setdefault("description", text)
        return made

    def dataclass_schema(self, schema: Any) -> dict[str, Any]:
        """The same of a record with slots, whose fields have no other names."""
        made = super().dataclass_schema(schema)
        for name, text in _field_texts(schema["cls"], made["properties"]).items():
            made["properties"][name].setdefault("description", text)
        return made

    def dict_schema(self, schema: Any) -> dict[str, Any]:
        """A mapping; JSON knows only texts as keys, so whole numbers become a pattern."""
        made = super().dict_schema(schema)
        if schema.get("keys_schema", {}).get("type") == "int":
            made["propertyNames"] = WHOLE_NUMBER_KEY
        return made

    def tagged_union_schema(self, schema: Any) -> dict[str, Any]:
        """One of several classes. `discriminator` is OpenAPI's word, not JSON Schema's."""
        made = super().tagged_union_schema(schema)
        made.pop("discriminator", None)
        return made


def _field_texts(cls: type, fields: Container[str]) -> dict[str, str]:
    """Field name → the docstring below it, the class's own before those of its bases."""
    texts: dict[str, str] = {}
    for base in cls.__mro__:
        if base.__module__.startswith("touchstone."):
            texts = _texts_below_fields(base) | texts
    return {name: text for name, text in texts.items() if name in fields}


def _texts_below_fields(cls: type) -> dict[str, str]:
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    texts = {}
    for field, below in itertools.pairwise(body):
        text = _text_of(below)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and text:
            texts[field.target.id] = text
    return texts


def _text_of(node: ast.stmt) -> str | None:
    value = node.value if isinstance(node, ast.Expr) else None
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return re.sub(r"\s+", " ", value.value).strip()
    return None
