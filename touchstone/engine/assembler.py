"""From what a server sends to one `Reply`: pure, fed with bytes and the seconds at which they came.

Nothing on the wire is trusted: the first event is not the first token, usage may ride anywhere or be
absent, content may be null, errors may come late and in several shapes, the end may be missing, and a
server asked for a stream may answer with one JSON body.
"""

from __future__ import annotations

import json
from typing import Any

from touchstone.engine.collected import Collected
from touchstone.engine.events import Event, EventFramer
from touchstone.engine.faults import Fault, fault_in, fault_of_event
from touchstone.engine.names import clean_model_id, storable
from touchstone.engine.reply import Reply, ReplyStatus
from touchstone.engine.thinking import thinking_of

MAX_SIZE = 64 * 1024 * 1024
"""No answer (characters), event or body (bytes) is larger; a server that sends more is stopped."""

_CUT_REASONS = {"length", "max_tokens"}
_BOM = b"\xef\xbb\xbf"
_LONGEST_PREAMBLE = 4096


class Assembler:
    """Collects one reply. `max_tokens` is the cap the request carried."""

    def __init__(self, max_tokens: int | None = None) -> None:
        self._max_tokens = max_tokens
        self._framer = EventFramer()
        self._head: bytes | None = b""
        self._body: bytearray | None = None
        self._collected = Collected()
        self._fault: Fault | None = None
        self._done = False
        self._events = 0
        self._latest = 0.0
        self._notes: dict[str, None] = {}

    @property
    def finished(self) -> bool:
        """Whether nothing more needs to be read: `[DONE]` came, or an error."""
        return self._done or self._fault is not None

    @property
    def fault(self) -> Fault | None:
        """The complaint that makes the reply an error."""
        return self._fault

    @property
    def generated(self) -> bool:
        """Whether any token came, visible or not."""
        return self._collected.first is not None

    def feed(self, data: bytes, at: float) -> None:
        """Takes the next bytes, which arrived `at` seconds after the request was sent."""
        if self._head is not None:
            data = self._sniffed(data)
        if self._body is not None:
            self._body += data
            self._latest = at
            self._limit(len(self._body))
        elif data:
            self._take_all(self._framer.feed(data), at)
            self._limit(max(self._framer.held, self._collected.chars + self._collected.reasoning_chars))

    def close(self, at: float, broken: Fault | None = None) -> Reply:
        """The reply once the connection has ended: by itself, or for the reason `broken`."""
        if self._body is not None:
            self._close_body(broken)
        else:
            self._take_all(self._framer.feed(self._head or b"") + self._framer.close(), at)
            self._close_stream(broken)
        return self._reply(at)

    def _sniffed(self, data: bytes) -> bytes:
        """Holds the first bytes back until they show a JSON body or an event stream."""
        data = (self._head or b"") + data
        start = data.removeprefix(_BOM).lstrip()
        if (not start or _BOM.startswith(data)) and len(data) < _LONGEST_PREAMBLE:
            self._head = data
            return b""
        self._head = None
        if start.startswith((b"{", b"[")):
            self._body = bytearray()
            return start
        return data

    def _limit(self, size: int) -> None:
        if size > MAX_SIZE:
            self._fault = Fault(f"the reply is larger than {MAX_SIZE // 2**20} MiB", "in_band")

    def _take_all(self, events: list[Event], at: float) -> None:
        for event in events:
            if self.finished:
                return
            self._take(event, at)

    def _take(self, event: Event, at: float) -> None:
        data = event.data.strip()
        if not data:
            return
        if data == b"[DONE]":
            self._done = True
            self._latest = at
            return
        body = self._decoded(data)
        if body is None and not event.whole:
            return  # cut in the middle of an event; the missing end says so
        self._events += 1
        self._latest = at
        text = data.decode("utf-8", "replace") if body is None else body
        self._fault = fault_of_event(event.name, text)
        if self._fault is None and isinstance(body, dict):
            self._collected.take(body, at)
            self._fault = self._finish_fault()
        elif self._fault is None and event.name in ("", "message"):
            self._fault = Fault(f"unreadable event: {str(text)[:200]}", "in_band")

    def _finish_fault(self) -> Fault | None:
        if self._collected.finish_reason != "error":
            return None
        return Fault("the server ended the answer with finish_reason error", "in_band")

    def _decoded(self, data: bytes | bytearray) -> Any:
        """The JSON value, or None if it is none."""
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            text = data.decode("utf-8", "replace")
            self._note("invalid_utf8")
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return None

    def _close_body(self, broken: Fault | None) -> None:
        if self._fault is not None:
            return
        body = self._decoded(self._body or bytearray())
        self._fault = fault_in(body)
        if self._fault is not None:
            return
        if body is None:
            self._fault = broken or _body_fault(self._body or bytearray())
        elif isinstance(body, dict) and body.get("choices"):
            self._note("not_streamed")
            self._collected.streamed = False
            self._collected.take(body, self._latest)
            self._fault = self._finish_fault()
        else:
            self._fault = Fault(f"a reply without choices: {str(body)[:200]}", "in_band")

    def _close_stream(self, broken: Fault | None) -> None:
        if self._fault is not None:
            return
        no_reason = self._collected.finish_reason is None
        if not self._done and no_reason:
            self._fault = broken or self._silence()
            return
        if not self._done:
            self._note("no_done")
        if no_reason:
            self._note("no_finish_reason")
        if broken is not None and not self._done:
            self._note("cut_after_finish")

    def _silence(self) -> Fault:
        if self._events:
            return Fault("the stream ended before both finish reason and [DONE]", "transport")
        return Fault("the server answered with a good status and not a single event", "empty_stream")

    def _reply(self, at: float) -> Reply:
        got, fault = self._collected, self._fault
        raw = "".join(got.texts)
        thinking = thinking_of(raw)
        if thinking.note:
            self._note(thinking.note)
        text = self._repaired(raw[thinking.start :])
        reasoning_chars = got.reasoning_chars + thinking.chars
        return Reply(
            status="error" if fault else self._status(text, reasoning_chars),
            text=text,
            reasoning_chars=reasoning_chars,
            finish_reason=got.finish_reason and storable(got.finish_reason),
            error_class=fault.kind if fault else None,
            error_message=fault.message if fault else None,
            ttft_s=got.ttft_s(raw, thinking),
            e2e_s=at if fault else self._latest,
            decode_tps=got.decode_tps(),
            prefill_tps=got.prefill_tps(),
            prompt_tokens=got.count("prompt_tokens"),
            completion_tokens=got.count("completion_tokens"),
            cached_tokens=got.cached_tokens(),
            served_model=storable(clean_model_id(got.model)) if got.model else None,
            system_fingerprint=got.fingerprint and storable(got.fingerprint),
            notes=tuple(self._notes),
        )

    def _status(self, text: str, reasoning_chars: int) -> ReplyStatus:
        if not text.strip():
            return "reasoning_only" if reasoning_chars else "empty"
        counted = self._collected.count("completion_tokens")
        at_cap = self._max_tokens is not None and counted is not None and counted >= self._max_tokens
        return "truncated" if at_cap or self._collected.finish_reason in _CUT_REASONS else "ok"

    def _repaired(self, text: str) -> str:
        """Joins surrogate halves that came apart; a half without its other half becomes U+FFFD."""
        joined = storable(text)
        if joined != text:
            lost = joined.count("\ufffd") > text.count("\ufffd")
            self._note("surrogates_replaced" if lost else "surrogates_repaired")
        return joined

    def _note(self, code: str) -> None:
        self._notes[code] = None


def _body_fault(body: bytearray) -> Fault:
    """Why a body that came is no JSON: it ends too early, as a cut one does, or is wrong before its end."""
    text = body.decode("utf-8", "replace").strip()
    try:
        json.loads(text)
        what = "no JSON"
    except json.JSONDecodeError as error:
        if error.pos >= len(text) or error.msg.startswith("Unterminated string"):
            return Fault("the reply ended in the middle of its JSON body", "transport")
        what = error.msg
    except (ValueError, RecursionError) as error:
        what = str(error)
    return Fault(f"the reply is not valid JSON ({what}): {text[:200]}", "in_band")
