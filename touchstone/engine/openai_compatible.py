"""Any other server with an OpenAI-compatible model list: it is there, and tells nothing of itself.

Whether a listed model is loaded is not said, so the list is no evidence for any model.
"""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.engine.build import BuildMetadata, Look, Told

NAME = "openai-compatible"
_MODELS = "/v1/models"


class OpenaiCompatible:
    """Recognises the list."""

    def build(self, look: Look, models: Sequence[str], fingerprint: str | None) -> BuildMetadata | None:
        """See `Engine.build`."""
        del models, fingerprint
        listed = look.get(_MODELS)
        has_list = listed is not None and isinstance(listed.record.get("data"), list)
        return Told(NAME, _MODELS).record() if has_list else None
