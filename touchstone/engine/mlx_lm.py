"""mlx_lm.server: its `system_fingerprint` reads mlx-lm version, mlx version, system, device.

It has no metadata endpoint, so versions are known only once a reply has come. Its model list shows what
lies on the disk, not what is loaded, and is no evidence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from touchstone.engine.build import BuildMetadata, Look, Told

NAME = "mlx-lm"
_FINGERPRINT = re.compile(r"(\d+\.\d+[0-9A-Za-z.+]*)-(\d+\.\d+[0-9A-Za-z.+]*)-(?=[A-Za-z])")
_HEALTH = "/health"
_NOWHERE = "/version"


class MlxLm:
    """Reads the fingerprint; without one recognises the bare server by three of its habits together."""

    def build(self, look: Look, models: Sequence[str], fingerprint: str | None) -> BuildMetadata | None:
        """See `Engine.build`."""
        del models
        versions = _FINGERPRINT.match(fingerprint or "")
        if versions:
            said = Told(NAME, "system_fingerprint")
            said.tell("engine_version", versions[1], "system_fingerprint")
            said.tell("runtime", f"mlx {versions[2]}", "system_fingerprint")
            return said.record()
        return Told(NAME, _HEALTH).record() if _has_its_habits(look) else None


def _has_its_habits(look: Look) -> bool:
    """Python's own server class, a bare health answer, and `Not Found` sent as JSON that is none."""
    health, missing = look.get(_HEALTH), look.get(_NOWHERE)
    if health is None or missing is None or health.record != {"status": "ok"}:
        return False
    return (
        health.server.startswith("BaseHTTP/")
        and missing.status == 404
        and missing.body is None
        and missing.text.strip() == "Not Found"
    )
