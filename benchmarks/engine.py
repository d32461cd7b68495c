"""A model server that keeps time: every request takes the service time that was set, in a process of its own.

`python -m benchmarks.engine` prints its port. Answers stream in twenty chunks; the model called `judge`
gives verdicts. `/service/MS` sets the time, `/log` tells of every chat request (model, first byte in, last
byte out) and forgets it.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from benchmarks.figure import ROOT

CHUNKS = 20
MODELS = ("m", "m2", "m3", "judge")
ANSWER = "The lamp is green, the door is shut, and the third key lies under the mat by the wall. "
VERDICT = json.dumps(
    {
        "rationale": "It says what was asked for, in few words.",
        "scores": {"Q1": 4, "Q2": 5},
        "red_flag": False,
    }
)


class Served(NamedTuple):
    """One chat request: seconds since the epoch, from its last byte in to its last byte out."""

    model: str
    began: float
    ended: float


class Engine:
    """The server as the benchmarks see it."""

    def __init__(self, port: int) -> None:
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self._root = f"http://127.0.0.1:{port}"

    def serve_in(self, service_ms: float, spread: float = 0.0) -> None:
        """Set the service time; `spread` varies it by so large a share either way."""
        self._get(f"/service/{service_ms}/{spread}")

    def log(self) -> list[Served]:
        """Every chat request since the last call, in the order of arrival."""
        return sorted((Served(*one) for one in json.loads(self._get("/log"))), key=lambda one: one.began)

    def _get(self, path: str) -> bytes:
        with urllib.request.urlopen(self._root + path) as answer:
            found: bytes = answer.read()
        return found


@contextmanager
def running() -> Iterator[Engine]:
    """A server for a while."""
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.engine"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        yield Engine(int(server.stdout.readline()))
    finally:
        server.terminate()
        server.wait()


def answer_spans(served: Sequence[Served], planned: int) -> tuple[list[Served], list[Served]]:
    """The planned answers and verdicts of a log, without what was asked to get ready."""
    answers = [one for one in served if one.model != "judge"]
    verdicts = [one for one in served if one.model == "judge"]
    return answers[-planned:], verdicts[-planned:]


def over_floor(served: Sequence[Served], concurrency: int) -> float:
    """First to last call ÷ the sum of service times ÷ concurrency."""
    span_s = max(one.ended for one in served) - min(one.began for one in served)
    return span_s / (sum(one.ended - one.began for one in served) / concurrency)


class _Connection(asyncio.Protocol):
    """HTTP/1.1 with connections that stay open."""

    served: list[Served] = []
    service_s = 0.0
    spread = 0.0
    random = random.Random(1)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._received = b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, blank, body = self._received.partition(b"\r\n\r\n")
        if not blank:
            return
        lowered = head.lower()
        at = lowered.find(b"content-length:")
        length = int(lowered[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(body) < length:
            return
        self._received = body[length:]
        self._answer(head.split(b" ", 2)[1].decode(), body[:length])

    def _answer(self, path: str, body: bytes) -> None:
        kind = type(self)
        if path.endswith("/chat/completions"):
            self._chat(json.loads(body)["model"])
        elif path == "/v1/models":
            self._json({"object": "list", "data": [{"id": name, "object": "model"} for name in MODELS]})
        elif path.startswith("/service/"):
            milliseconds, spread = path.split("/")[2:]
            kind.service_s, kind.spread = float(milliseconds) / 1000, float(spread)
            kind.random.seed(1)
            self._json({})
        elif path == "/log":
            self._json(kind.served)
            kind.served = []
        else:
            self._transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")

    def _json(self, value: object) -> None:
        body = json.dumps(value).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self._transport.write(head.encode() + body)

    def _chat(self, model: str) -> None:
        began, pieces = time.time(), _STREAMS[model]
        service_s = self.service_s * (1 + self.spread * self.random.uniform(-1, 1))
        if not service_s:
            for piece in pieces:
                self._transport.write(piece)
            self.served.append(Served(model, began, time.time()))
            return
        loop, half = asyncio.get_running_loop(), len(pieces) // 2
        loop.call_later(service_s / 2, self._transport.write, b"".join(pieces[:half]))
        loop.call_later(service_s, self._end, b"".join(pieces[half:]), model, began)

    def _end(self, rest: bytes, model: str, began: float) -> None:
        self._transport.write(rest)
        self.served.append(Served(model, began, time.time()))


def _stream(model: str, text: str) -> list[bytes]:
    """The head and each chunk of a streamed answer, as they go over the wire."""
    size = -(-len(text) // CHUNKS)
    deltas = [{"content": text[at : at + size]} for at in range(0, len(text), size)]
    events = [_event(model, [{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas]
    events.append(_event(model, [{"index": 0, "delta": {}, "finish_reason": "stop"}]))
    events.append(_event(model, [], usage={"prompt_tokens": 20, "completion_tokens": 20, "total_tokens": 40}))
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    return [head + events[0], *events[1:], _framed(b"data: [DONE]\n\n") + b"0\r\n\r\n"]


def _event(model: str, choices: list[object], **more: object) -> bytes:
    fields = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": model}
    return _framed(b"data: " + json.dumps({**fields, "choices": choices, **more}).encode() + b"\n\n")


def _framed(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


_STREAMS = {model: _stream(model, VERDICT if model == "judge" else ANSWER) for model in MODELS}


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve())
