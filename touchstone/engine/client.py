"""One question to a model server, one `Reply` back: limits, retries, cancellation.

`ask` never raises for what a server does. No redirect is followed, so neither a key nor a prompt ever
reaches a host that is not configured.
"""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import urljoin, urlsplit

from touchstone import __version__
from touchstone.config import Endpoint
from touchstone.engine.address import address_of
from touchstone.engine.assembler import Assembler
from touchstone.engine.faults import Fault, fault_in, fault_of_status, says_loading
from touchstone.engine.names import KEY_REMOVED, same_model, storable, without_key
from touchstone.engine.reply import ChatRequest, ErrorClass, Reply
from touchstone.engine.retry import RETRIED, Again, Tries
from touchstone.engine.wire import Exchange, LimitReached, Stopped, Watch, Wire
from touchstone.errors import BadInputError, EngineError

_LONGEST_LIST = 16 * 1024 * 1024
_TROUBLE = (LimitReached, Stopped, OSError, http.client.HTTPException)
_LIMITS: dict[str, tuple[ErrorClass, str]] = {
    "load": ("timeout_load", "no answer began within {:g} s (endpoint.load_s)"),
    "idle": ("timeout_idle", "the server was silent for {:g} s (endpoint.idle_s)"),
    "total": ("timeout_total", "the answer was not complete after {:g} s (endpoint.total_s)"),
}


@dataclass(frozen=True, slots=True)
class _Try:
    """What one request came to, and whether it may be repeated."""

    reply: Reply
    again: Again = "no"
    retry_after: str | None = None
    body: bytes = b""


class ChatClient:
    """Asks one endpoint. Safe to call from several threads; connections are kept and shared.

    `sleep` waits between tries (default: until `stop` is set). Setting `stop` makes every `ask` under
    way return within about a second, with the note `stopped`. Raises `BadInputError` for a base URL or
    key that cannot be used, `EngineError` if no base URL is configured.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        api_key: str | None = None,
        *,
        sleep: Callable[[float], object] | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._address = address_of(endpoint.base_url)
        self._key = checked_key(api_key)
        self._stop = stop or threading.Event()
        self._sleep = sleep or self._stop.wait
        self._wire = Wire(self._address, trust_env=endpoint.trust_env)
        self._headers = headers_for(self._key)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the kept connections."""
        self._wire.close()

    def ask(self, request: ChatRequest) -> Reply:
        """The reply to one request, after as many tries as the policy allows; an error is a reply too."""
        body = body_of(request)
        data = json.dumps(body).encode()
        tried = self._persist(lambda: self._ask_once(data, _cap_in(body)))
        return self._without_key(self._with_model_check(tried.reply, request.model))

    def models(self) -> list[str]:
        """The ids the server lists, as it writes them; none where it sends an empty list or nothing.

        Raises `EngineError` when it cannot be asked.
        """
        tried = self._persist(self._list_once)
        if tried.reply.status == "error":
            raise EngineError(
                self._without_key(tried.reply).error_message
                or f"no usable answer from {self._address.origin}",
                "is it running, and is base_url right? `touchstone doctor` looks at every endpoint",
            )
        return [without_key(storable(name), self._key) for name in _listed_ids(tried.body)]

    def _persist(self, attempt: Callable[[], _Try]) -> _Try:
        """Repeats an attempt as long as its outcome and the limits allow."""
        tries = Tries(self._endpoint.retries, self._endpoint.load_s)
        partial: _Try | None = None
        while True:
            tried = attempt()
            if tried.reply.text:
                partial = tried
            pause = tries.pause_after(tried.again, tried.retry_after, tried.reply.e2e_s or 0, time.time())
            if pause is None:
                return self._finished(tried, partial, tries)
            self._sleep(pause)
            if self._stop.is_set():
                return self._finished(_Try(_failed(_STOPPED)), partial, tries)

    def _finished(self, tried: _Try, partial: _Try | None, tries: Tries) -> _Try:
        reply = tried.reply
        if tried.again == "loading":
            late = f"the model was still loading after {tries.load_s:g} s: {reply.error_message}"
            reply = replace(reply, error_class="timeout_load", error_message=late)
        elif reply.status == "error" and not reply.text and partial is not None:
            reply = replace(partial.reply, notes=(*partial.reply.notes, "partial_of_earlier_try"))
        notes = (*reply.notes, "waited_for_load") if tries.waits else reply.notes
        return replace(tried, reply=replace(reply, attempts=tries.failures + 1, notes=notes))

    def _ask_once(self, data: bytes, cap: int | None) -> _Try:
        assembler = Assembler(cap)
        watch = self._watch()
        started = time.time()
        trouble: Exception | None = None
        kind: str | None = None
        try:
            path = self._address.api + "/chat/completions"
            with self._wire.request("POST", path, watch, self._headers, data) as got:
                started = got.sent_at
                if (refused := self._refused(got, watch)) is not None:
                    return refused
                kind = got.header("Content-Type")
                while not assembler.finished and (more := got.read()):
                    assembler.feed(more, time.monotonic() - watch.began)
                got.settle()
        except _TROUBLE as error:
            trouble = error
        broken = self._fault_of(trouble) if trouble else None
        reply = assembler.close(time.monotonic() - watch.began, broken)
        if reply.error_class == "empty_stream" and kind:
            reply = replace(reply, error_message=f"{reply.error_message} (content type {kind})")
        again = _again(assembler.fault, trouble, assembler.generated)
        return _Try(_stamped(reply, started, trouble), again)

    def _list_once(self) -> _Try:
        watch = self._watch()
        try:
            with self._wire.request("GET", self._address.api + "/models", watch, self._headers) as got:
                if (refused := self._refused(got, watch)) is not None:
                    return refused
                body = got.read_all(_LONGEST_LIST)
        except _TROUBLE as error:
            fault = self._fault_of(error)
            return _Try(_failed(fault), _again(fault, error, generated=False))
        complaint = fault_in(_decoded(body))
        if complaint is not None:
            return _Try(_failed(complaint), _again(complaint, None, generated=False))
        return _Try(Reply(status="ok", text=""), body=body)

    def _refused(self, got: Exchange, watch: Watch) -> _Try | None:
        """The outcome of a response that cannot hold an answer; None if it may hold one."""
        encoding = got.header("Content-Encoding")
        if 200 <= got.status < 300 and encoding in (None, "", "identity"):
            return None
        fault = self._refusal(got, encoding)
        again: Again = "no"
        if says_loading(fault):
            again = "loading"
        elif got.status in RETRIED and fault.kind == "http":
            again = "yes"
        reply = replace(_failed(fault), e2e_s=time.monotonic() - watch.began)
        return _Try(_stamped(reply, got.sent_at, None), again, got.header("Retry-After"))

    def _refusal(self, got: Exchange, encoding: str | None) -> Fault:
        if 200 <= got.status < 300:
            return Fault(f"the server compressed its answer ({encoding}) without being asked to", "http")
        if 300 <= got.status < 400:
            goal = _place(self._address.origin, got.header("Location") or "")
            return Fault(f"HTTP {got.status}: redirected to {goal}; redirects are not followed", "http")
        fault = fault_of_status(got.status, got.read_all())
        if got.status == 404 and fault.kind == "http":
            where = self._address.origin + self._address.api
            return replace(fault, message=f"{fault.message} (asked at {where})")
        return fault

    def _fault_of(self, trouble: Exception) -> Fault:
        if isinstance(trouble, Stopped):
            return _STOPPED
        if isinstance(trouble, LimitReached):
            kind, words = _LIMITS[trouble.name]
            return Fault(words.format(trouble.seconds), kind)
        if isinstance(trouble, http.client.IncompleteRead):
            return Fault("the connection closed in the middle of the answer", "transport")
        what = getattr(trouble, "strerror", None) or str(trouble) or type(trouble).__name__
        return Fault(f"connection to {self._address.origin}: {what}", "transport")

    def _with_model_check(self, reply: Reply, asked: str) -> Reply:
        served = reply.served_model
        if served is None or same_model(asked, served):
            return reply
        reply = replace(reply, notes=(*reply.notes, "model_mismatch"))
        if reply.status == "error" or not self._endpoint.strict_model:
            return reply
        message = f"asked for {asked}, answered by {served} (endpoint.strict_model)"
        return replace(reply, status="error", error_class="model_mismatch", error_message=message)

    def _watch(self) -> Watch:
        limits = self._endpoint
        return Watch(limits.load_s, limits.idle_s, limits.total_s, self._stop)

    def _without_key(self, reply: Reply) -> Reply:
        """The reply without the key, which would be stored. Error messages lose even a short one."""
        key = self._key
        if key is None:
            return reply

        def clean(text: str | None) -> str | None:
            return text and without_key(text, key)

        without = replace(
            reply,
            text=without_key(reply.text, key),
            finish_reason=clean(reply.finish_reason),
            served_model=clean(reply.served_model),
            system_fingerprint=clean(reply.system_fingerprint),
            error_message=reply.error_message and reply.error_message.replace(key, KEY_REMOVED),
        )
        return reply if without == reply else replace(without, notes=(*reply.notes, "key_removed"))


def body_of(request: ChatRequest) -> dict[str, Any]:
    """The JSON body of a request: what is not set is not sent, `extra_body` has the last word."""
    optional = {
        "temperature": request.temperature,
        "seed": request.seed,
        "top_p": request.top_p,
        "max_tokens": request.max_tokens,
        "response_format": request.response_format,
    }
    return {
        "model": request.model,
        "messages": [dict(message) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        **{name: value for name, value in optional.items() if value is not None},
        **request.extra_body,
    }


def checked_key(key: str | None) -> str | None:
    """The key without surrounding white space, None if there is none.

    Raises `BadInputError` if no HTTP header can carry it.
    """
    key = (key or "").strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise BadInputError(
            "the API key holds characters that no HTTP header can carry",
            "look at the environment variable named in endpoint.api_key_env",
        )
    return key or None


def headers_for(key: str | None) -> dict[str, str]:
    """The headers of every request to a model server."""
    headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "User-Agent": f"touchstone/{__version__}",
    }
    return {**headers, "Authorization": f"Bearer {key}"} if key else headers


_STOPPED = Fault("stopped", "transport")


def _again(fault: Fault | None, trouble: Exception | None, generated: bool) -> Again:
    """Connection trouble, a stream without events and passing complaints may be repeated."""
    if fault is None or isinstance(trouble, Stopped | ssl.SSLCertVerificationError):
        return "no"
    if says_loading(fault):
        return "loading"
    passing = fault.kind == "in_band" and fault.code in RETRIED and not generated
    return "yes" if passing or fault.kind in ("transport", "empty_stream") else "no"


def _failed(fault: Fault) -> Reply:
    notes = ("stopped",) if fault is _STOPPED else ()
    return Reply("error", "", error_class=fault.kind, error_message=fault.message, notes=notes)


def _stamped(reply: Reply, started: float, trouble: Exception | None) -> Reply:
    """The reply with its place in time; its length is measured on the monotonic clock."""
    notes = reply.notes
    if isinstance(trouble, Stopped) and reply.status == "error":
        notes = (*notes, "stopped")
    return replace(reply, t_start=started, t_end=started + (reply.e2e_s or 0), notes=notes)


def _place(origin: str, location: str) -> str:
    """Where a redirect points, without credentials and query."""
    try:
        place = urlsplit(urljoin(origin, location))
        return f"{place.scheme}://{place.netloc.rpartition('@')[2]}{place.path}"
    except ValueError:
        return "an unreadable place"


def _cap_in(body: dict[str, Any]) -> int | None:
    cap = body.get("max_tokens", body.get("max_completion_tokens"))
    return cap if isinstance(cap, int) else None


def _decoded(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _listed_ids(raw: bytes) -> list[str]:
    if not raw.strip():
        return []  # mlx_lm.server on a machine without a hub cache; it answers chat all the same
    body = _decoded(raw)
    entries = body.get("data") if isinstance(body, dict) else body
    if not isinstance(entries, list):
        raise EngineError(
            "the server's list of models is not in the OpenAI form",
            "base_url must name the OpenAI-compatible part of the server, usually …/v1",
        )
    ids = [entry.get("id") for entry in entries if isinstance(entry, dict)]
    return [name for name in ids if isinstance(name, str) and name]
