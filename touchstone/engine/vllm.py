"""vLLM: version at `/version`; its models stay in memory, so the list is what is loaded."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.engine.build import BuildMetadata, Look, Told, count_in, records_in
from touchstone.engine.names import clean_model_id, told

NAME = "vllm"
_VERSION = "/version"
_MODELS = "/v1/models"


class Vllm:
    """Reads the version and the model list; a list owned by somebody else is not vLLM's."""

    def build(self, look: Look, models: Sequence[str], fingerprint: str | None) -> BuildMetadata | None:
        """See `Engine.build`."""
        del fingerprint
        answered = look.get(_VERSION)
        if answered is None or not isinstance(answered.record.get("version"), str):
            return None
        listed = look.get(_MODELS)
        entries = records_in(listed.record, "data") if listed else []
        if any(entry.get("owned_by") not in (None, "vllm") for entry in entries):
            return None
        said = Told(NAME, _VERSION)
        said.tell("engine_version", told(answered.record["version"]), _VERSION)
        for entry in entries:
            name = entry.get("id")
            if isinstance(name, str) and name in models:
                weights = told(entry.get("root")) or name
                said.tell_of("served_model", name, clean_model_id(weights), _MODELS)
                said.tell_of("context_length", name, count_in(entry, "max_model_len"), _MODELS)
        return said.record()
