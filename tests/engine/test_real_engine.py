"""The client and the probe against the embedded engine: a real model on llama.cpp."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.kit.engine import cache_with_model
from touchstone.config import Endpoint
from touchstone.demo import engine as embedded
from touchstone.engine.client import ChatClient
from touchstone.engine.probe import probe_build_metadata
from touchstone.engine.reply import ChatRequest

pytestmark = pytest.mark.engine

PARIS = ChatRequest(
    "smollm2-135m-instruct",
    ({"role": "user", "content": "What is the capital of France?"},),
    temperature=0.0,
    seed=1,
    max_tokens=16,
)


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    cache = cache_with_model(tmp_path_factory.mktemp("engine"))
    try:
        yield embedded.start(cache, lambda _: None).base_url
    finally:
        embedded.stop(cache)


def test_a_real_answer_is_counted_and_timed(base_url: str) -> None:
    with ChatClient(Endpoint(base_url=base_url)) as client:
        first, second = client.ask(PARIS), client.ask(PARIS)
    assert (first.status, first.finish_reason, first.completion_tokens) == ("truncated", "length", 16)
    assert first.text == second.text
    assert first.prompt_tokens == 37
    assert second.cached_tokens == 36
    for reply in (first, second):
        assert reply.ttft_s is not None
        assert reply.e2e_s is not None
        assert 0 < reply.ttft_s < reply.e2e_s
        assert (reply.decode_tps or 0) > 0
    assert first.notes == ()


def test_seeds_matter_at_a_temperature(base_url: str) -> None:
    with ChatClient(Endpoint(base_url=base_url)) as client:
        warm = replace(PARIS, temperature=0.8, max_tokens=24)
        one, two, again = (client.ask(replace(warm, seed=seed)).text for seed in (1, 2, 1))
    assert one == again
    assert one != two


def test_a_prompt_over_the_context_is_named_so(base_url: str) -> None:
    with ChatClient(Endpoint(base_url=base_url)) as client:
        reply = client.ask(replace(PARIS, messages=({"role": "user", "content": "hello " * 9000},)))
    assert (reply.status, reply.error_class, reply.attempts) == ("error", "context_overflow", 1)


def test_another_name_is_answered_and_noted(base_url: str) -> None:
    with ChatClient(Endpoint(base_url=base_url)) as client:
        assert "model_mismatch" in client.ask(replace(PARIS, model="other")).notes


def test_a_stop_frees_the_engine(base_url: str) -> None:
    stop = threading.Event()
    with ChatClient(Endpoint(base_url=base_url), stop=stop) as client:
        threading.Timer(0.5, stop.set).start()
        began = time.monotonic()
        reply = client.ask(replace(PARIS, max_tokens=1500, extra_body={"ignore_eos": True}))
        assert time.monotonic() - began < 2
    assert reply.notes[0] == "stopped"
    with ChatClient(Endpoint(base_url=base_url)) as client:
        assert client.ask(replace(PARIS, max_tokens=1)).completion_tokens == 1


def test_the_build_as_far_as_this_wheel_tells(base_url: str) -> None:
    found = probe_build_metadata(Endpoint(base_url=base_url), None, [PARIS.model])
    assert (found.engine, found.engine_version, found.runtime) == ("llama.cpp", None, None)
    assert found.quant_by_model == {PARIS.model: "Q4_1"}
    assert found.context_length[PARIS.model] >= 1024
    assert found.served_model[PARIS.model].endswith(".gguf")
    assert "/" not in found.served_model[PARIS.model]
