"""LM Studio: tells of loaded models at `/api/v0/models`, or `/api/v1/models` since 0.4.

The application's version is nowhere on the wire. The runtime's version comes only inside a native reply,
so a model that is already loaded is asked for one token; nothing is ever loaded by the probe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from touchstone.engine.build import BuildMetadata, Look, Told, count_in, record_in, records_in
from touchstone.engine.names import clean_model_id, told

NAME = "lm-studio"
_V0 = "/api/v0/models"
_V1 = "/api/v1/models"
_NATIVE_CHAT = "/api/v0/chat/completions"


class LmStudio:
    """Reads the native model lists."""

    def build(self, look: Look, models: Sequence[str], fingerprint: str | None) -> BuildMetadata | None:
        """See `Engine.build`."""
        del fingerprint
        listed = look.get(_V0)
        if listed is not None and any("state" in entry for entry in records_in(listed.record, "data")):
            return self._from_v0(look, records_in(listed.record, "data"), models)
        listed = look.get(_V1)
        if listed is not None and any(
            "loaded_instances" in one for one in records_in(listed.record, "models")
        ):
            return self._from_v1(look, records_in(listed.record, "models"), models)
        return None

    def _from_v0(
        self, look: Look, entries: Sequence[Mapping[str, Any]], models: Sequence[str]
    ) -> BuildMetadata:
        said = Told(NAME, _V0)
        loaded = {str(entry.get("id")): entry for entry in entries if entry.get("state") == "loaded"}
        kinds = set()
        for model in models:
            entry = loaded.get(model)
            if entry is not None:
                said.tell_of("served_model", model, clean_model_id(model), _V0)
                said.tell_of("quant_by_model", model, told(entry.get("quantization")), _V0)
                said.tell_of("context_length", model, count_in(entry, "loaded_context_length"), _V0)
                kinds.add(told(entry.get("compatibility_type")))
        self._tell_runtime(said, look, [model for model in models if model in loaded], kinds, _V0)
        return said.record()

    def _from_v1(
        self, look: Look, entries: Sequence[Mapping[str, Any]], models: Sequence[str]
    ) -> BuildMetadata:
        said = Told(NAME, _V1)
        kinds = set()
        loaded = []
        for model in models:
            for entry in entries:
                instance = _instance(entry, model)
                if instance is not None:
                    loaded.append(model)
                    quant = told(record_in(entry, "quantization").get("name"))
                    context = count_in(record_in(instance, "config"), "context_length")
                    said.tell_of("served_model", model, clean_model_id(str(entry.get("key") or model)), _V1)
                    said.tell_of("quant_by_model", model, quant, _V1)
                    said.tell_of("context_length", model, context, _V1)
                    kinds.add(told(entry.get("format")))
        self._tell_runtime(said, look, loaded, kinds, _V1)
        return said.record()

    def _tell_runtime(
        self, said: Told, look: Look, loaded: Sequence[str], kinds: set[str | None], where: str
    ) -> None:
        """The runtime with its version if every loaded model agrees on it, else the kind of weights."""
        if len(kinds) == 1:
            said.tell("runtime", kinds.pop(), where)
        runtimes = {_native_runtime(look, model) for model in loaded}
        if len(runtimes) == 1:
            said.tell("runtime", runtimes.pop(), _NATIVE_CHAT)


def _instance(entry: Mapping[str, Any], model: str) -> Mapping[str, Any] | None:
    """The loaded instance of this entry that answers to the name."""
    instances = records_in(entry, "loaded_instances")
    if entry.get("key") == model and instances:
        return instances[0]
    return next((one for one in instances if one.get("id") == model), None)


def _native_runtime(look: Look, model: str) -> str | None:
    request = {
        "model": model,
        "messages": [{"role": "user", "content": "Hi"}],
        "max_tokens": 1,
        "temperature": 0,
        "stream": False,
    }
    answered = look.post(_NATIVE_CHAT, request)
    runtime = record_in(answered.record, "runtime") if answered else {}
    name, version = told(runtime.get("name")), told(runtime.get("version"))
    return f"{name} {version}" if name and version else None
