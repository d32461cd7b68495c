"""Ollama: version at `/api/version`, loaded models at `/api/ps`, weights at `/api/show`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from touchstone.engine.build import BuildMetadata, Look, Told, count_in, record_in, records_in
from touchstone.engine.names import clean_model_id, same_model, told

NAME = "ollama"
_VERSION = "/api/version"
_LOADED = "/api/ps"
_SHOW = "/api/show"
_DIGEST_CHARS = 12


class Ollama:
    """Reads the native API; asks for details only of models that are loaded."""

    def build(self, look: Look, models: Sequence[str], fingerprint: str | None) -> BuildMetadata | None:
        """See `Engine.build`."""
        del fingerprint
        answered = look.get(_VERSION)
        if answered is None or not isinstance(answered.record.get("version"), str):
            return None
        said = Told(NAME, _VERSION)
        said.tell("engine_version", told(answered.record["version"]), _VERSION)
        running = look.get(_LOADED)
        entries = records_in(running.record, "models") if running else []
        for model in models:
            entry = next((one for one in entries if same_model(model, _name(one))), None)
            if entry is not None:
                self._tell_of(said, look, model, entry)
        return said.record()

    def _tell_of(self, said: Told, look: Look, model: str, entry: Mapping[str, Any]) -> None:
        said.tell_of("served_model", model, _with_digest(entry), _LOADED)
        said.tell_of("context_length", model, count_in(entry, "context_length"), _LOADED)
        quant = told(record_in(entry, "details").get("quantization_level"))
        if quant is not None:
            said.tell_of("quant_by_model", model, quant, _LOADED)
            return
        shown = look.post(_SHOW, {"model": model})
        details = record_in(shown.record, "details") if shown else {}
        said.tell_of("quant_by_model", model, told(details.get("quantization_level")), _SHOW)


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry.get("model") or entry.get("name") or "")


def _with_digest(entry: Mapping[str, Any]) -> str:
    """The name with the start of the weights' digest: a tag can be pulled anew, a digest cannot."""
    digest = told(entry.get("digest"))
    name = clean_model_id(_name(entry))
    return f"{name}@{digest.removeprefix('sha256:')[:_DIGEST_CHARS]}" if digest else name
