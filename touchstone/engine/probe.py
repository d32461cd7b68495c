"""Which engine answers, in which build, with which weights: asked once, believed only where it says so.

Engines are told apart by their answers, never by their port. The probe loads no model, never raises, and
waits three seconds for an answer at most.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from touchstone.config import Endpoint, EngineName
from touchstone.engine.address import Address, address_of
from touchstone.engine.build import Answered, BuildMetadata, Engine
from touchstone.engine.client import checked_key, headers_for
from touchstone.engine.llamacpp import LlamaCpp
from touchstone.engine.lm_studio import LmStudio
from touchstone.engine.mlx_lm import MlxLm
from touchstone.engine.mlx_openai_server import MlxOpenaiServer
from touchstone.engine.names import storable, without_key
from touchstone.engine.ollama import Ollama
from touchstone.engine.openai_compatible import OpenaiCompatible
from touchstone.engine.vllm import Vllm
from touchstone.engine.wire import LimitReached, Watch, Wire
from touchstone.errors import TouchstoneError

__all__ = ["ATTEMPT_S", "ENGINES", "BuildMetadata", "probe_build_metadata"]

ATTEMPT_S = 3.0
_MOST_SILENCES = 2
_LONGEST_ANSWER = 4 * 1024 * 1024

ENGINES: dict[EngineName, Engine] = {
    "lm-studio": LmStudio(),
    "ollama": Ollama(),
    "llama.cpp": LlamaCpp(),
    "vllm": Vllm(),
    "mlx-lm": MlxLm(),
    "mlx-openai-server": MlxOpenaiServer(),
    "openai-compatible": OpenaiCompatible(),
}
"""Asked in this order; the first that recognises its answers is believed."""


def probe_build_metadata(
    endpoint: Endpoint, api_key: str | None, models: Sequence[str], fingerprint: str | None = None
) -> BuildMetadata:
    """What the endpoint's server tells of itself and of these models; never raises.

    `fingerprint` is the `system_fingerprint` of a reply, the only place where mlx_lm tells its versions.
    With `endpoint.engine` set only that engine is asked, and its name is kept as configured.
    """
    try:
        address, key = address_of(endpoint.base_url), checked_key(api_key)
    except TouchstoneError:
        return BuildMetadata()
    look = HttpLook(address, key, trust_env=endpoint.trust_env)
    try:
        return _storable(_build(look, endpoint.engine, models, fingerprint), key)
    finally:
        look.close()


def _storable(build: BuildMetadata, key: str | None) -> BuildMetadata:
    """What was told, without the key it was asked with and as UTF-8 can hold it."""

    def fit(text: str) -> str:
        return without_key(storable(text), key)

    return replace(
        build,
        engine=build.engine and fit(build.engine),
        engine_version=build.engine_version and fit(build.engine_version),
        runtime=build.runtime and fit(build.runtime),
        served_model={model: fit(text) for model, text in build.served_model.items()},
        quant_by_model={model: fit(text) for model, text in build.quant_by_model.items()},
    )


def _build(look: HttpLook, name: EngineName, models: Sequence[str], fingerprint: str | None) -> BuildMetadata:
    if name != "auto":
        named = _asked(ENGINES[name], look, models, fingerprint) or BuildMetadata()
        return replace(named, engine=name, origins={**named.origins, "engine": "config:endpoint.engine"})
    for engine in ENGINES.values():
        found = _asked(engine, look, models, fingerprint)
        if found is not None:
            return found
    return BuildMetadata()


def _asked(
    engine: Engine, look: HttpLook, models: Sequence[str], fingerprint: str | None
) -> BuildMetadata | None:
    """An engine's findings; a server whose answers no engine's reader expects has told nothing."""
    try:
        return engine.build(look, models, fingerprint)
    except (TypeError, ValueError, AttributeError, KeyError):
        return None


class HttpLook:
    """Asks one server over HTTP; remembers answers, and gives up on one that is not there."""

    def __init__(
        self, address: Address, key: str | None, *, trust_env: bool = False, text_chars: int = 1000
    ) -> None:
        self._root = address.root
        self._text_chars = text_chars
        self._headers = headers_for(key)
        self._wire = Wire(address, trust_env=trust_env)
        self._answers: dict[str, Answered | None] = {}
        self._silences = 0

    def close(self) -> None:
        """Closes the connection."""
        self._wire.close()

    def get(self, path: str) -> Answered | None:
        """See `Look.get`."""
        if path not in self._answers:
            self._answers[path] = self._asked("GET", path, None)
        return self._answers[path]

    def post(self, path: str, body: Mapping[str, Any]) -> Answered | None:
        """See `Look.post`."""
        return self._asked("POST", path, json.dumps(body).encode())

    def _asked(self, method: str, path: str, body: bytes | None) -> Answered | None:
        if self._silences >= _MOST_SILENCES:
            return None
        watch = Watch(ATTEMPT_S, ATTEMPT_S, ATTEMPT_S, began=time.monotonic())
        try:
            with self._wire.request(method, self._root + path, watch, self._headers, body) as got:
                raw = got.read_all(_LONGEST_ANSWER)
                return Answered(
                    got.status, got.header("Server") or "", _decoded(raw), _text(raw, self._text_chars)
                )
        except (LimitReached, OSError, http.client.HTTPException):
            self._silences += 1
        return None


def _decoded(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _text(raw: bytes, chars: int) -> str:
    return raw[:chars].decode("utf-8", "replace")
