"""Is somebody else using the server?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.kit.chat_server import ChatServer, Script, answer, whole
from touchstone.config import Endpoint
from touchstone.engine.load import requests_running

LLAMACPP = """\
# HELP llamacpp:prompt_tokens_total Number of prompt tokens processed.
llamacpp:prompt_tokens_total 12
{padding}
llamacpp:requests_processing {count}
llamacpp:requests_deferred 7
"""
VLLM = 'vllm:num_requests_running{{engine="0",model_name="m"}} {count}\nvllm:num_requests_waiting{{}} 9.0\n'


def running(pages: Mapping[str, Script]) -> int | None:
    with ChatServer(answer("x"), routes=dict(pages)) as server:
        return requests_running(Endpoint(base_url=server.base_url), None)


def text(body: str) -> Script:
    return Script([body.encode()], headers=(("Content-Type", "text/plain"),), framing="length")


@pytest.mark.parametrize(
    ("slots", "count"),
    [
        ([{"is_processing": True}, {"is_processing": False}, {"is_processing": True}], 2),
        ([{"is_processing": False}], 0),
        ([{"id": 0}], None),
        ({"error": "off"}, None),
    ],
)
def test_llama_cpp_tells_by_its_slots(slots: Any, count: int | None) -> None:
    assert running({"/slots": whole(slots)}) == count


def test_without_slots_the_metrics_tell_however_long_they_are() -> None:
    assert running({"/metrics": text(LLAMACPP.format(padding="# x\n" * 1000, count=3))}) == 3
    assert running({"/metrics": text(VLLM.format(count="2.0"))}) == 2


def test_a_server_that_does_not_tell_is_not_idle() -> None:
    assert running({}) is None
    assert running({"/metrics": text("other:thing 1\n")}) is None


def test_no_server_and_no_address_are_no_exception() -> None:
    assert requests_running(Endpoint(base_url="http://127.0.0.1:9/v1"), None) is None
    assert requests_running(Endpoint(), None) is None
