"""Asking a scripted server through the real client."""

from __future__ import annotations

from typing import Any

from tests.kit.chat_server import ChatServer, Scripted
from touchstone.config import Endpoint
from touchstone.engine.client import ChatClient
from touchstone.engine.reply import ChatRequest, Reply

HELLO = ChatRequest("local-test", ({"role": "user", "content": "Say hello."},))


def endpoint(base_url: str, **settings: Any) -> Endpoint:
    """Limits short enough for a test that runs into them."""
    return Endpoint(base_url=base_url, **{"load_s": 5.0, "idle_s": 5.0, "total_s": 20.0, **settings})


def asked(script: Scripted, request: ChatRequest = HELLO, **settings: Any) -> tuple[Reply, list[float]]:
    """The reply to one request, and the pauses the client made between its tries."""
    pauses: list[float] = []
    with (
        ChatServer(script) as server,
        ChatClient(endpoint(server.base_url, **settings), sleep=pauses.append) as client,
    ):
        return client.ask(request), pauses


def reply_to(script: Scripted, request: ChatRequest = HELLO, **settings: Any) -> Reply:
    """The reply alone."""
    return asked(script, request, **settings)[0]
