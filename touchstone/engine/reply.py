"""What goes to a model server and what comes back, in our words. Light to import."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ReplyStatus = Literal["ok", "empty", "reasoning_only", "truncated", "error"]
ErrorClass = Literal[
    "transport",
    "http",
    "context_overflow",
    "in_band",
    "no_such_model",
    "model_mismatch",
    "timeout_load",
    "timeout_idle",
    "timeout_total",
    "empty_stream",
]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question. Whatever is None is not sent; `extra_body` is merged into the request body."""

    model: str
    messages: tuple[Mapping[str, str], ...]
    temperature: float | None = None
    seed: int | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    response_format: Mapping[str, Any] | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. Seconds and tokens per second; None where not measured, never estimated.

    `text` of an error is the partial text. `t_start` and `t_end` are seconds since the epoch.
    `notes` are codes of what the wire did oddly: `no_done`, `surrogates_repaired`, …
    """

    status: ReplyStatus
    text: str
    reasoning_chars: int = 0
    finish_reason: str | None = None
    error_class: ErrorClass | None = None
    error_message: str | None = None
    ttft_s: float | None = None
    e2e_s: float | None = None
    decode_tps: float | None = None
    prefill_tps: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    attempts: int = 1
    t_start: float | None = None
    t_end: float | None = None
    served_model: str | None = None
    system_fingerprint: str | None = None
    notes: tuple[str, ...] = ()


Ask = Callable[[ChatRequest], Reply]
"""The asking function: never raises for what a server does; an error is a Reply."""
