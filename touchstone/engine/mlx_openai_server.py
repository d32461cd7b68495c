"""mlx-openai-server: says at `/health` which model it holds, and nothing of versions or weights."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.engine.build import BuildMetadata, Look, Told
from touchstone.engine.names import clean_model_id, same_model, told

NAME = "mlx-openai-server"
_HEALTH = "/health"


class MlxOpenaiServer:
    """Reads the health answer."""

    def build(self, look: Look, models: Sequence[str], fingerprint: str | None) -> BuildMetadata | None:
        """See `Engine.build`."""
        del fingerprint
        health = look.get(_HEALTH)
        if health is None or "model_status" not in health.record:
            return None
        said = Told(NAME, _HEALTH)
        held = told(health.record.get("model_id"))
        ready = str(health.record.get("model_status")).startswith("initialized")
        for model in models:
            if held and ready and same_model(model, held):
                said.tell_of("served_model", model, clean_model_id(held), _HEALTH)
        return said.record()
