"""Is somebody else using the server? Asked of those that tell; nothing is loaded or generated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from touchstone.config import Endpoint
from touchstone.engine.address import address_of
from touchstone.engine.client import checked_key
from touchstone.engine.probe import HttpLook
from touchstone.errors import TouchstoneError

_METRICS_CHARS = 1_000_000
_RUNNING = re.compile(
    r"^(?:llamacpp:requests_processing|vllm:num_requests_running)(?:\{[^}]*\})? ([0-9.e+]+)$", re.MULTILINE
)


def requests_running(endpoint: Endpoint, api_key: str | None) -> int | None:
    """How many requests the server works on now; None where it does not tell. Never raises.

    llama.cpp tells at `/slots` or `/metrics`, vLLM at `/metrics`.
    """
    try:
        address, key = address_of(endpoint.base_url), checked_key(api_key)
    except TouchstoneError:
        return None
    look = HttpLook(address, key, trust_env=endpoint.trust_env, text_chars=_METRICS_CHARS)
    try:
        busy = _busy_slots(look)
        return _running_by_metrics(look) if busy is None else busy
    finally:
        look.close()


def _busy_slots(look: HttpLook) -> int | None:
    answered = look.get("/slots")
    if answered is None or answered.status != 200 or not isinstance(answered.body, list):
        return None
    slots: list[Mapping[str, Any]] = [slot for slot in answered.body if isinstance(slot, dict)]
    told = [slot["is_processing"] for slot in slots if isinstance(slot.get("is_processing"), bool)]
    return sum(told) if told else None


def _running_by_metrics(look: HttpLook) -> int | None:
    answered = look.get("/metrics")
    if answered is None or answered.status != 200:
        return None
    counts = [float(number) for number in _RUNNING.findall(answered.text)]
    return int(sum(counts)) if counts else None
