"""llama.cpp's server: build, weights and context at `/props`, some of it also in the model list.

It answers for any model name with the one it holds, so what it tells holds for every name asked. As a
router over several models it says of each whether it is loaded; only those count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from touchstone.engine.build import BuildMetadata, Look, Told, count_in, record_in, records_in
from touchstone.engine.names import clean_model_id, told

NAME = "llama.cpp"
_PROPS = "/props"
_MODELS = "/v1/models"


class LlamaCpp:
    """Reads `/props`, and the model list where that is switched off."""

    def build(self, look: Look, models: Sequence[str], fingerprint: str | None) -> BuildMetadata | None:
        """See `Engine.build`."""
        props = look.get(_PROPS)
        held = props.record if props and "default_generation_settings" in props.record else {}
        if not held and not (props and props.server.startswith("llama.cpp")):
            return None
        said = Told(NAME, _PROPS)
        said.tell("engine_version", told(fingerprint), "system_fingerprint")
        said.tell("engine_version", told(held.get("build_info")), _PROPS)
        for model in models:
            self._tell_of(said, look, model, held)
        return said.record()

    def _tell_of(self, said: Told, look: Look, model: str, held: Mapping[str, Any]) -> None:
        entry = _loaded_entry(look, model)
        meta = record_in(entry, "meta")
        said.tell_of("served_model", model, _cleaned(entry.get("id")), _MODELS)
        said.tell_of("quant_by_model", model, told(meta.get("ftype")), _MODELS)
        said.tell_of("context_length", model, count_in(meta, "n_ctx"), _MODELS)
        if "status" in entry:
            return  # a router: its own props say nothing of this model
        settings = record_in(held, "default_generation_settings")
        said.tell_of("served_model", model, _file_name(held), _PROPS)
        said.tell_of("quant_by_model", model, told(held.get("model_ftype")), _PROPS)
        said.tell_of("context_length", model, count_in(settings, "n_ctx"), _PROPS)


def _loaded_entry(look: Look, model: str) -> Mapping[str, Any]:
    """The list's entry for the model that would answer to this name, if it says that it is loaded."""
    listed = look.get(_MODELS)
    entries = records_in(listed.record, "data") if listed else []
    if len(entries) == 1 and "status" not in entries[0]:
        return entries[0]
    for entry in entries:
        names = [entry.get("id"), *(entry.get("aliases") or [])]
        if model in names and record_in(entry, "status").get("value") == "loaded":
            return entry
    return {}


def _file_name(held: Mapping[str, Any]) -> str | None:
    """The weights' file name: an alias can be given to any file."""
    path = told(held.get("model_path"))
    if path is None:
        return _cleaned(held.get("model_alias"))
    return clean_model_id(path.replace("\\", "/").rpartition("/")[2]) or None


def _cleaned(name: object) -> str | None:
    text = told(name)
    return clean_model_id(text) if text else None
