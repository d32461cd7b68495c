"""What a model server says about itself, in one neutral record; and how an engine is asked for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class BuildMetadata:
    """Null or missing where the engine told nothing; never guessed.

    `served_model`, `quant_by_model` and `context_length` (tokens) are keyed by the model name asked for.
    `origins` names the source of each field that is told, e.g. `{"engine_version": "llama.cpp:/props"}`.
    """

    engine: str | None = None
    engine_version: str | None = None
    runtime: str | None = None
    served_model: Mapping[str, str] = field(default_factory=dict)
    quant_by_model: Mapping[str, str] = field(default_factory=dict)
    context_length: Mapping[str, int] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer to a probe. `body` is the decoded JSON, None if it is none."""

    status: int
    server: str
    body: Any
    text: str

    @property
    def record(self) -> Mapping[str, Any]:
        """The body of a good answer if it is an object, else an empty one."""
        return self.body if self.status == 200 and isinstance(self.body, dict) else {}


class Look(Protocol):
    """A server that can be asked. Every path is asked once; None means that no answer came."""

    def get(self, path: str) -> Answered | None:
        """The answer at a path below the server's root."""

    def post(self, path: str, body: Mapping[str, Any]) -> Answered | None:
        """The answer to a small JSON request."""


class Engine(Protocol):
    """One family of servers."""

    def build(self, look: Look, models: Sequence[str], fingerprint: str | None) -> BuildMetadata | None:
        """What this engine tells, or None if the server's answers are not this engine's.

        `models` are the names that will be asked for; `fingerprint` is a reply's `system_fingerprint`.
        """


class Told:
    """Collects a record field by field, each with the place it was read from."""

    def __init__(self, engine: str, where: str) -> None:
        self._engine = engine
        self._fields: dict[str, Any] = {}
        self._origins: dict[str, str] = {}
        self.tell("engine", engine, where)

    def tell(self, field_name: str, value: str | None, where: str) -> None:
        """Notes a field of the whole server; None is not noted."""
        if value is not None:
            self._fields[field_name] = value
            self._origins[field_name] = f"{self._engine}:{where}"

    def tell_of(self, field_name: str, model: str, value: str | int | None, where: str) -> None:
        """Notes a field of one model; None is not noted."""
        if value is not None:
            self._fields.setdefault(field_name, {})[model] = value
            self._origins[field_name] = f"{self._engine}:{where}"

    def record(self) -> BuildMetadata:
        """The finished record."""
        return BuildMetadata(**self._fields, origins=self._origins)


def records_in(body: object, key: str) -> list[Mapping[str, Any]]:
    """The objects in the list under `key`; anything else is left out."""
    entries = body.get(key) if isinstance(body, Mapping) else None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def count_in(record: Mapping[str, Any], key: str) -> int | None:
    """A positive whole number under `key`."""
    value = record.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def record_in(record: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The object under `key`, or an empty one."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}
