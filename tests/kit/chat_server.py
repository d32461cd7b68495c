"""A real model server on this machine that says exactly what a test tells it to.

Every test that needs an engine talks HTTP to this one; nothing of the client is replaced. A reply is a
`Script`: status, headers and the byte chunks to play, each flushed as written. The server records what
it was asked, how many requests were in flight at once and how often the model changed.

    with ChatServer(answer("Hello")) as server:
        client = ChatClient(Endpoint(base_url=server.base_url))

Scripts may be one for all requests, a list (the last one repeats), or a function of the request's JSON.
`python -m tests.kit.chat_server --service-ms 20` serves from a process of its own, for benchmarks.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import itertools
import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

EVENT_STREAM = (("Content-Type", "text/event-stream"),)
JSON = (("Content-Type", "application/json"),)

Framing = Literal["chunked", "length", "close"]
Ending = Literal["clean", "cut", "reset", "hang"]


@dataclass(frozen=True)
class Script:
    """One reply, played byte for byte.

    `delays` are seconds before each chunk (the last one repeats); `framing` is how HTTP marks the end.
    `ending`: `clean`; `cut` closes without HTTP's end mark; `reset` resets the connection; `hang` keeps
    it open and silent until the server stops or the client leaves. Status 0 hangs up without a byte.
    """

    chunks: Sequence[bytes] = ()
    status: int = 200
    headers: Sequence[tuple[str, str]] = EVENT_STREAM
    delays: Sequence[float] = (0.0,)
    framing: Framing = "chunked"
    ending: Ending = "clean"

    def delay(self, index: int) -> float:
        """Seconds to wait before chunk `index`."""
        return self.delays[min(index, len(self.delays) - 1)] if self.delays else 0.0


Answering = Callable[[dict[str, Any]], Script]
Scripted = Script | Sequence[Script] | Answering


@dataclass(frozen=True)
class Asked:
    """A request as it arrived. `body` is the parsed JSON (empty for GET); `at` is `time.monotonic()`."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    at: float
    connection: int
    """Which TCP connection carried it, counted from 1."""


def event(data: object, name: str | None = None) -> bytes:
    """One event of a stream; a string is sent as it is, anything else as JSON."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {text}\n\n".encode()


def chunk(
    delta: Mapping[str, object] | None,
    finish: str | None = None,
    *,
    model: str = "local-test",
    **extra: object,
) -> dict[str, object]:
    """A `chat.completion.chunk`; `delta` None gives `choices: []`."""
    choices = [] if delta is None else [{"index": 0, "delta": dict(delta), "finish_reason": finish}]
    return {"id": "c-1", "object": "chat.completion.chunk", "model": model, "choices": choices, **extra}


def answer(
    text: str,
    *,
    pieces: int | None = None,
    reasoning: str = "",
    finish: str = "stop",
    model: str = "local-test",
    usage: Mapping[str, object] | None = None,
    delays: Sequence[float] = (0.0,),
) -> Script:
    """A normal stream: role, text word by word (or in `pieces` parts), finish, usage, `[DONE]`.

    Usage defaults to one completion token per part and seven prompt tokens, none of them cached.
    """
    parts = _parts(text, pieces)
    counts = usage or {
        "prompt_tokens": 7,
        "completion_tokens": max(len(parts), 1),
        "total_tokens": 7 + max(len(parts), 1),
        "prompt_tokens_details": {"cached_tokens": 0},
    }
    events: list[object] = [chunk({"role": "assistant", "content": None}, model=model)]
    events += [chunk({"reasoning_content": word}, model=model) for word in _parts(reasoning, None)]
    events += [chunk({"content": part}, model=model) for part in parts]
    events += [chunk({}, finish, model=model), chunk(None, model=model, usage=dict(counts)), "[DONE]"]
    return Script([event(one) for one in events], delays=delays)


def whole(body: object, status: int = 200, headers: Sequence[tuple[str, str]] = ()) -> Script:
    """A plain JSON body with its length."""
    data = json.dumps(body, ensure_ascii=False).encode()
    return Script([data], status, (*JSON, *headers), framing="length")


def stream(raw: bytes, splits: Iterable[int] = (), **changes: Any) -> Script:
    """A recorded event stream, flushed at the given byte offsets."""
    edges = [0, *splits, len(raw)]
    pieces = [raw[start:end] for start, end in itertools.pairwise(edges)]
    return replace(Script(pieces), **changes)


def recorded(path: Path) -> Script:
    """A raw HTTP response from a file: status line, headers, empty line, body."""
    head, _, body = path.read_bytes().partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    pairs = [line.partition(":") for line in lines]
    headers = tuple((name, value.strip()) for name, _, value in pairs)
    return Script([body] if body else [], int(status.split()[1]), headers, framing="close")


def _parts(text: str, pieces: int | None) -> list[str]:
    if pieces is None:
        words = text.split(" ")
        return [word if n == 0 else " " + word for n, word in enumerate(words)] if text else []
    size = max(1, -(-len(text) // pieces))
    return [text[start : start + size] for start in range(0, len(text), size)]


class ChatServer:
    """Serves on 127.0.0.1 at a free port while the `with` block lasts.

    `models` are listed by `GET /v1/models`; `routes` adds or replaces other paths, keyed by path.
    `service_s` is how long every chat request is worked on before its first byte; `tls` serves https.
    """

    def __init__(
        self,
        script: Scripted | None = None,
        *,
        models: Sequence[str] = ("local-test",),
        routes: Mapping[str, Scripted] | None = None,
        service_s: float = 0.0,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.script: Scripted = answer("ok") if script is None else script
        self.service_s = service_s
        self.routes: dict[str, Scripted] = {"/v1/models": _model_list(models), **(routes or {})}
        self.stopping = threading.Event()
        self._book = _Book()
        self._server = _Server(("127.0.0.1", port), self)
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stops serving at once; connections still open are cut."""
        self.stopping.set()
        self._server.shutdown()
        self._server.cut_connections()
        self._server.server_close()
        self._thread.join()

    @property
    def port(self) -> int:
        """The port the system chose."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The server's root, without `/v1`."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """What a user would put into the configuration."""
        return f"{self.url}/v1"

    @property
    def requests(self) -> list[Asked]:
        """Everything asked so far, in order of arrival."""
        return list(self._book.requests)

    @property
    def chats(self) -> list[Asked]:
        """The chat requests among them."""
        return [asked for asked in self._book.requests if asked.path.endswith("/chat/completions")]

    @property
    def in_flight(self) -> int:
        """Chat requests being worked on now."""
        return self._book.in_flight

    @property
    def most_in_flight(self) -> int:
        """The most chat requests that were ever worked on at once."""
        return self._book.most_in_flight

    @property
    def model_switches(self) -> int:
        """How often a chat request named another model than the one before; the first counts."""
        return self._book.model_switches

    @property
    def connections(self) -> int:
        """TCP connections accepted so far."""
        return self._book.connections

    def settle(self, within_s: float = 10.0) -> None:
        """Waits until every connection is closed: what a killed client had sent has then been counted."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port)) as last:
            last.request("GET", "/settle")  # taken up only after all that came before
            last.getresponse().read()
        until = time.monotonic() + within_s
        while self._server.is_connected:
            assert time.monotonic() < until, "a client is still connected"
            time.sleep(0.002)

    def script_for(self, asked: Asked) -> Script:
        """The script that answers this request."""
        if asked.path in self.routes:
            return self._book.choose(asked.path, self.routes[asked.path], asked.body)
        if asked.method == "POST" and asked.path.endswith("/chat/completions"):
            return self._book.choose("chat", self.script, asked.body)
        return whole({"error": {"message": "File Not Found", "type": "not_found_error"}}, 404)


@dataclass
class _Book:
    """What happened, counted under one lock."""

    requests: list[Asked] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    model_switches: int = 0
    connections: int = 0
    _model: object = None
    _turns: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def connected(self) -> int:
        with self._lock:
            self.connections += 1
            return self.connections

    def note(self, asked: Asked) -> None:
        with self._lock:
            self.requests.append(asked)

    @contextlib.contextmanager
    def working(self, asked: Asked) -> Iterator[Callable[[], None]]:
        """Counts a request as in flight until the block ends, or until what it yields is called."""
        with self._lock:
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            if asked.body.get("model") != self._model:
                self._model = asked.body.get("model")
                self.model_switches += 1
        with contextlib.ExitStack() as leaving:
            leaving.callback(self._left)
            yield leaving.close

    def _left(self) -> None:
        with self._lock:
            self.in_flight -= 1

    def choose(self, name: str, scripted: Scripted, body: dict[str, Any]) -> Script:
        if isinstance(scripted, Script):
            return scripted
        if callable(scripted):
            return scripted(body)
        with self._lock:
            turn = self._turns.get(name, 0)
            self._turns[name] = turn + 1
        return scripted[min(turn, len(scripted) - 1)]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], chat: ChatServer) -> None:
        self.chat = chat
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._guard:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._guard:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up, or refuses the certificate, is no error here."""

    @property
    def is_connected(self) -> bool:
        with self._guard:
            return bool(self._open)

    def cut_connections(self) -> None:
        with self._guard:
            still_open = list(self._open)
        for one in still_open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        until = time.monotonic() + 2
        while self._open and time.monotonic() < until:
            time.sleep(0.005)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        super().setup()
        self._number = self.server.chat._book.connected()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Quiet."""

    def do_GET(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        self._serve(body if isinstance(body, dict) else {})

    def _serve(self, body: dict[str, Any]) -> None:
        chat = self.server.chat
        asked = Asked(self.command, self.path, dict(self.headers), body, time.monotonic(), self._number)
        chat._book.note(asked)
        if not asked.path.endswith("/chat/completions"):
            self._play(chat.script_for(asked))
            return
        with chat._book.working(asked) as done:
            if chat.service_s:
                chat.stopping.wait(chat.service_s)
            self._play(chat.script_for(asked), done)

    def _play(self, script: Script, done: Callable[[], None] = lambda: None) -> None:
        if not script.status:
            self.close_connection = True
            return
        self.send_response_only(script.status)
        for name, value in script.headers:
            self.send_header(name, value)
        if script.framing == "chunked":
            self.send_header("Transfer-Encoding", "chunked")
        elif script.framing == "length":
            self.send_header("Content-Length", str(sum(map(len, script.chunks))))
        else:
            self.send_header("Connection", "close")
        self.close_connection = script.framing == "close" or script.ending != "clean"
        self.end_headers()
        with contextlib.suppress(OSError):
            self._play_chunks(script, done)
            self._end(script)

    def _play_chunks(self, script: Script, done: Callable[[], None]) -> None:
        last = len(script.chunks) - 1 if script.ending == "clean" else None
        for index, data in enumerate(script.chunks):
            delay = script.delay(index)
            if delay and self.server.chat.stopping.wait(delay):
                return
            if index == last:
                done()  # whoever has the whole answer may ask again before this thread has left
            if data:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data) if script.framing == "chunked" else data)

    def _end(self, script: Script) -> None:
        if script.ending == "clean":
            if script.framing == "chunked":
                self.wfile.write(b"0\r\n\r\n")
        elif script.ending == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.rfile.close()
        elif script.ending == "hang":
            self._wait_for_hang_up()

    def _wait_for_hang_up(self) -> None:
        self.connection.settimeout(0.05)
        while not self.server.chat.stopping.is_set():
            with contextlib.suppress(TimeoutError):
                if not self.connection.recv(1):
                    return


def _model_list(models: Sequence[str]) -> Script:
    return whole({"object": "list", "data": [{"id": name, "object": "model"} for name in models]})


def main() -> None:
    """Serves one fixed answer until standard input closes; prints the base URL first."""
    options = argparse.ArgumentParser()
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--service-ms", type=float, default=0.0)
    options.add_argument("--chunks", type=int, default=20)
    given = options.parse_args()
    script = answer("x" * given.chunks, pieces=given.chunks)
    with ChatServer(script, port=given.port, service_s=given.service_ms / 1000) as server:
        print(server.base_url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            input()


if __name__ == "__main__":
    main()
