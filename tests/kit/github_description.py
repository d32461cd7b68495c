"""GitHub's own description of its API, cut down to the operations touchstone uses, and a check against it.

The cut is a file of the tests (`tests/samples/github/`). To make it anew from a newer description:

    npm pack @octokit/openapi && tar xzf octokit-openapi-*.tgz
    python -m tests.kit.github_description package/generated/api.github.com.json

An operation that is no longer there stops the cut: then the contract has moved.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

CUT = Path(__file__).parents[1] / "samples" / "github" / "api.github.com.json"

_REPOSITORY = "/repos/{owner}/{repo}"
_USED = {
    "/user": ("get",),
    _REPOSITORY: ("get",),
    f"{_REPOSITORY}/issues/{{issue_number}}/comments": ("get", "post"),
    f"{_REPOSITORY}/issues/comments/{{comment_id}}": ("patch", "delete"),
    f"{_REPOSITORY}/pulls": ("get", "post"),
    f"{_REPOSITORY}/pulls/{{pull_number}}": ("get", "patch"),
}
_PROSE = frozenset(
    {"description", "summary", "tags", "externalDocs", "example", "examples", "deprecated", "title", "links"}
)
_NAMES_FOLLOW = frozenset({"properties", "schemas", "parameters", "responses", "headers"})


class Description:
    """The cut, as a judge of requests and answers. Every fault is one line; an empty list is none."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document

    @classmethod
    def read(cls) -> Description:
        """The cut that is kept with the tests."""
        return cls(json.loads(CUT.read_text(encoding="utf-8")))

    def operation_of(self, method: str, path: str) -> tuple[str, dict[str, str]] | None:
        """The operation's id and its path's values; None where the description knows no such thing."""
        for template, methods in self.document["paths"].items():
            found = re.fullmatch(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", template), path)
            if found and method.lower() in methods:
                return methods[method.lower()]["operationId"], found.groupdict()
        return None

    def request_faults(self, method: str, target: str, body: Any) -> list[str]:
        """What GitHub would not take: unknown operation, bad path or query value, bad body."""
        parts = urlsplit(target)
        found = self.operation_of(method, parts.path)
        if found is None:
            return [f"{method} {parts.path}: no such operation"]
        operation = self._operations[found[0]]
        given = {("path", name): value for name, value in found[1].items()}
        given |= {("query", name): value for name, value in parse_qsl(parts.query, keep_blank_values=True)}
        return [*self._parameter_faults(operation, given), *self._body_faults(operation, body)]

    def answer_faults(self, operation_id: str, status: int, body: Any) -> list[str]:
        """What GitHub would not have answered."""
        answer = self._resolved(self._operations[operation_id]["responses"].get(str(status)))
        if answer is None:
            return [f"{operation_id}: no status {status}"]
        content = answer.get("content", {}).get("application/json")
        if content is None:
            return [] if body is None else [f"{operation_id} {status}: has no body"]
        return list(self._schema_faults(content["schema"], body, f"{operation_id} {status}"))

    def specimen(self, operation_id: str) -> Any:
        """A good answer of an operation, as the description gives it, to change and send."""
        return json.loads(json.dumps(self.document["x-specimens"][operation_id]))

    @cached_property
    def _operations(self) -> dict[str, Any]:
        return {
            operation["operationId"]: operation
            for methods in self.document["paths"].values()
            for operation in methods.values()
        }

    def _parameter_faults(self, operation: Any, given: Mapping[tuple[str, str], str]) -> Iterator[str]:
        known = {}
        for one in map(self._resolved, operation.get("parameters", [])):
            known[one["in"], one["name"]] = one
        for place, name in sorted(given.keys() - known.keys()):
            yield f"{operation['operationId']}: {place} value {name!r} is unknown"
        for key, parameter in known.items():
            if key in given:
                schema = self._resolved(parameter["schema"])
                value = _typed(given[key], schema.get("type"))
                yield from self._schema_faults(schema, value, f"{operation['operationId']} {key[1]}")
            elif parameter.get("required"):
                yield f"{operation['operationId']}: {key[1]!r} is missing"

    def _body_faults(self, operation: Any, body: Any) -> Iterator[str]:
        wanted = self._resolved(operation.get("requestBody"))
        if wanted is None:
            if body is not None:
                yield f"{operation['operationId']}: takes no body"
            return
        if body is None and not wanted.get("required"):
            return
        schema = wanted["content"]["application/json"]["schema"]
        for name in sorted(set(body or {}) - set(schema.get("properties", {}))):
            yield f"{operation['operationId']}: body field {name!r} is unknown"
        yield from self._schema_faults(schema, body, operation["operationId"])

    def _schema_faults(self, schema: Any, value: Any, where: str) -> Iterator[str]:
        registry: Registry[Any] = Registry().with_resource(
            "urn:github", Resource.from_contents(self.document, DRAFT202012)
        )
        anchored = json.loads(json.dumps(schema).replace('"#/', '"urn:github#/'))
        for error in Draft202012Validator(anchored, registry=registry).iter_errors(value):
            yield f"{where}: {error.json_path}: {error.message[:200]}"

    def _resolved(self, node: Any) -> Any:
        while isinstance(node, dict) and "$ref" in node:
            target: Any = self.document
            for name in node["$ref"].removeprefix("#/").split("/"):
                target = target[name]
            node = target
        return node


def cut(whole: Mapping[str, Any]) -> dict[str, Any]:
    """The used operations and what they refer to, without prose, as JSON Schema of today."""
    paths = {
        path: {method: whole["paths"][path][method] for method in methods} for path, methods in _USED.items()
    }
    kept: dict[str, Any] = {
        "openapi": whole["openapi"],
        "info": {name: whole["info"][name] for name in ("title", "version", "license")},
        "paths": {path: _plain(item) for path, item in paths.items()},
        "components": {},
        "x-specimens": dict(_specimens(paths, whole)),
    }
    _follow(kept["paths"], whole, kept["components"])
    return kept


def _specimens(paths: Mapping[str, Any], whole: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for methods in paths.values():
        for operation in methods.values():
            good = next(answer for status, answer in operation["responses"].items() if status[0] == "2")
            examples = good.get("content", {}).get("application/json", {}).get("examples", {})
            example = next(iter(examples.values()), None)
            if example is None:
                continue
            if "$ref" in example:
                example = whole["components"]["examples"][example["$ref"].rsplit("/", 1)[1]]
            value = example["value"]
            if not isinstance(value, list):
                yield operation["operationId"], value


def _follow(node: Any, whole: Mapping[str, Any], components: dict[str, Any]) -> None:
    if isinstance(node, list):
        for child in node:
            _follow(child, whole, components)
    elif isinstance(node, dict):
        reference = node.get("$ref")
        if isinstance(reference, str):
            _, _, kind, name = reference.split("/")
            if name not in components.setdefault(kind, {}):
                components[kind][name] = _plain(whole["components"][kind][name])
                _follow(components[kind][name], whole, components)
        for child in node.values():
            _follow(child, whole, components)


def _plain(node: Any, *, names: bool = False) -> Any:
    """Without prose; `nullable` as JSON Schema says it. `names`: the keys are names of something."""
    if isinstance(node, list):
        return [_plain(child) for child in node]
    if not isinstance(node, dict):
        return node
    if names:
        return {key: _plain(value) for key, value in node.items()}
    kept = {
        key: _plain(value, names=key in _NAMES_FOLLOW and isinstance(value, dict))
        for key, value in node.items()
        if key not in _PROSE and not key.startswith("x-") and key != "nullable"
    }
    return _nullable(kept) if node.get("nullable") is True else kept


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    if isinstance(schema.get("type"), str) and "enum" not in schema:
        return schema | {"type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def _typed(text: str, kind: Any) -> Any:
    if kind == "integer" and re.fullmatch(r"-?\d+", text):
        return int(text)
    return text


if __name__ == "__main__":
    CUT.write_text(
        json.dumps(cut(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))), indent=1, sort_keys=True)
        + "\n",
        encoding="utf-8",
    )
