"""What the chunks of one reply said, and the figures that follow from it. Pure.

Times are seconds since the request was sent. A figure that cannot be known is None, never estimated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from touchstone.engine.names import told
from touchstone.engine.thinking import Thinking


@dataclass(slots=True)
class Collected:
    """Everything taken from choice 0 of the chunks so far. `streamed` is false for one whole JSON body."""

    streamed: bool = True
    texts: list[str] = field(default_factory=list)
    marks: list[tuple[int, float]] = field(default_factory=list)
    """(characters of text before it, arrival) of each piece of text."""
    chars: int = 0
    reasoning_chars: int = 0
    first: float | None = None
    """Arrival of the first generated token of any kind."""
    last: float | None = None
    finish_reason: str | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    timings: Mapping[str, Any] = field(default_factory=dict)
    model: str | None = None
    fingerprint: str | None = None

    def take(self, body: Mapping[str, Any], at: float) -> None:
        """Adds one decoded chunk, or one whole completion."""
        choices = body.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index", 0) in (0, None):
                self._take_choice(choice, at)
        if isinstance(body.get("usage"), dict):
            self.usage = body["usage"]
        if isinstance(body.get("timings"), dict):
            self.timings = body["timings"]
        if self.model is None:
            self.model = told(body.get("model"))
        if self.fingerprint is None:
            self.fingerprint = told(body.get("system_fingerprint"))

    def _take_choice(self, choice: Mapping[str, Any], at: float) -> None:
        delta = choice.get("delta" if self.streamed else "message")
        if isinstance(delta, dict):
            reasoning = delta.get("reasoning_content") or delta.get("reasoning")
            if reasoning and isinstance(reasoning, str):
                self.reasoning_chars += len(reasoning)
                self._mark(at)
            content = delta.get("content")
            if content:
                self._take_text(content if isinstance(content, str) else _joined_parts(content), at)
        reason = choice.get("finish_reason")
        if reason and isinstance(reason, str):
            self.finish_reason = reason

    def _take_text(self, text: str, at: float) -> None:
        if text:
            self.texts.append(text)
            self.marks.append((self.chars, at))
            self.chars += len(text)
            self._mark(at)

    def _mark(self, at: float) -> None:
        if self.first is None:
            self.first = at
        self.last = at

    def count(self, name: str) -> int | None:
        """A token count of the engine's own; a zero beside generated text is no count."""
        count = _whole(self.usage.get(name))
        return None if count == 0 and self.first is not None else count

    def cached_tokens(self) -> int | None:
        """Prompt tokens taken from the engine's cache."""
        details = self.usage.get("prompt_tokens_details")
        said = _whole(details.get("cached_tokens")) if isinstance(details, dict) else None
        return _whole(self.timings.get("cache_n")) if said is None else said

    def ttft_s(self, raw: str, thinking: Thinking) -> float | None:
        """Seconds to the first visible character."""
        visible = next((n for n in range(thinking.start, len(raw)) if not raw[n].isspace()), None)
        if visible is None or not self.streamed:
            return None
        return next(at for offset, at in reversed(self.marks) if offset <= visible)

    def decode_tps(self) -> float | None:
        """Tokens per second after the first one; the engine's own figure where it gives one."""
        timed = _positive(self.timings.get("predicted_per_second"))
        if timed is not None:
            return timed if (_whole(self.timings.get("predicted_n")) or 0) > 1 else None
        counted = self.count("completion_tokens")
        if counted is None or self.first is None or self.last is None or not self.streamed:
            return None
        window = self.last - self.first
        return (counted - 1) / window if window > 0 and counted > 1 else None

    def prefill_tps(self) -> float | None:
        """Prompt tokens really read per second; None where the cached share is not known."""
        timed = _positive(self.timings.get("prompt_per_second"))
        if timed is not None:
            return timed
        prompt, cached = self.count("prompt_tokens"), self.cached_tokens()
        if prompt is None or cached is None or not self.first or not self.streamed:
            return None
        return (prompt - cached) / self.first if prompt > cached else None


def _joined_parts(content: object) -> str:
    """The text of content given as a list of parts."""
    texts = (
        [part.get("text") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    )
    return "".join(text for text in texts if isinstance(text, str))


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _positive(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if value > 0 and math.isfinite(value) else None
