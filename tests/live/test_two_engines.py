"""The same weights on two real engines, llama.cpp and mlx_lm.server: `make live`.

Three questions of 16 tokens each, because MLX on a CPU gives about seven tokens a second.
"""

from __future__ import annotations

import json
import os
import re
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.kit.cli import Done, touchstone
from tests.kit.engine import cache_with_model
from tests.kit.scratch import ScratchRepo, scratch_repo
from tests.live import mlx_server
from touchstone.config import Endpoint
from touchstone.demo import engine as embedded
from touchstone.demo.model import MODEL_NAME, cache_folder
from touchstone.engine.client import ChatClient
from touchstone.engine.probe import probe_build_metadata
from touchstone.engine.reply import ChatRequest
from touchstone.errors import ExitCode
from touchstone.judge.self_test import schema_works

pytestmark = pytest.mark.live

PACK = """\
schema: 1
id: facts
version: 1
title: Three facts
prompt_variants: [{id: none, system_prompt: null}]
sampling: {temperature: 0.0, seed: 1, max_tokens: 16}
categories:
  - id: A
    name: Facts
    prompts:
      - {id: A1, prompt: "What is the capital of France?", checks: [{type: contains, value: Paris}]}
      - {id: A2, prompt: "Say hello in German.", checks: [{type: contains, value: allo}]}
      - {id: A3, prompt: "Name three colors.", checks: [{type: contains, value: red, ignore_case: true}]}
"""


@dataclass(frozen=True)
class Engines:
    """Where the two answer."""

    llama: str
    mlx: str


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engines]:
    home = cache_folder(os.environ, sys.platform, Path.home()) / "live-mlx"
    home.mkdir(parents=True, exist_ok=True)
    cache = cache_with_model(tmp_path_factory.mktemp("engine"))
    model = mlx_server.installed(home, next(cache.glob("*.gguf")).resolve())
    with ExitStack() as running:
        running.callback(embedded.stop, cache)
        llama = embedded.start(cache, print).base_url
        yield Engines(llama, running.enter_context(mlx_server.serving(home, model)))


@pytest.fixture(scope="module")
def compared(engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> tuple[ScratchRepo, Done]:
    """A run on each engine through the command line, and what `compare` says of the two."""
    repo = scratch_repo(tmp_path_factory.mktemp("two") / "project")
    repo.commit("base", {"packs/facts.yaml": PACK})
    settings = {
        "llama.yaml": (
            f"schema: 1\nendpoint: {{base_url: '{engines.llama}'}}\nmodels: [{{id: {MODEL_NAME}}}]\n"
        ),
        "mlx.yaml": (
            f"schema: 1\nendpoint: {{base_url: '{engines.mlx}'}}\n"
            f"models: [{{id: {mlx_server.MODEL}, was: {MODEL_NAME}}}]\n"
        ),
    }
    for name, text in settings.items():
        repo.write(name, text)
        done = touchstone(repo.path, "measure", "--pack", "facts", "-q", "--config", name, timeout=300)
        assert done.code == ExitCode.NOTHING_WORSE, done.err
        print(done.out)
    llama, mlx = sorted(path.name for path in repo.path.glob("runs/*_facts_*"))
    done = touchstone(repo.path, "compare", llama, mlx)
    print(done.out)
    return repo, done


def results(repo: ScratchRepo) -> list[Any]:
    return [json.loads(path.read_text()) for path in sorted(repo.path.glob("runs/*/result.json"))]


def answers(repo: ScratchRepo) -> list[list[str]]:
    return [
        [json.loads(line)["response_text"] for line in path.read_text().splitlines()]
        for path in sorted(repo.path.glob("runs/*/responses.jsonl"))
    ]


def test_the_same_weights_answer_otherwise(compared: tuple[ScratchRepo, Done]) -> None:
    llama, mlx = answers(compared[0])
    assert len(llama) == len(mlx) == 3
    assert sum(one != other for one, other in zip(llama, mlx, strict=True)) >= 1
    prompt_tokens = [
        [row["repeats"][0]["prompt_tokens"] for row in result["rows"]] for result in results(compared[0])
    ]
    assert prompt_tokens[0] == prompt_tokens[1], "one template, one tokenizer"


def test_each_engine_is_recorded_by_what_it_told(compared: tuple[ScratchRepo, Done]) -> None:
    llama, mlx = (result["provenance"] for result in results(compared[0]))
    assert (llama["engine"], mlx["engine"]) == ("llama.cpp", "mlx-lm")
    assert (mlx["engine_version"], mlx["runtime"]) == ("0.32.2", "mlx 0.32.4")
    assert mlx["origins"]["engine_version"] == "mlx-lm:system_fingerprint"
    quants = [result["cells"][0]["quant"] for result in results(compared[0])]
    assert quants == ["Q4_1", None], "mlx_lm.server does not tell, so nothing is said"


def test_compare_says_that_it_is_another_engine(compared: tuple[ScratchRepo, Done]) -> None:
    out = compared[1].out
    assert re.search(r"engine: llama\.cpp → mlx-lm \[provenance\]", out), out
    assert f"model: {MODEL_NAME} → {mlx_server.MODEL}" in out
    assert "speed not comparable" in out


def test_nothing_stored_holds_a_path_of_this_machine(compared: tuple[ScratchRepo, Done]) -> None:
    for path in compared[0].path.glob("runs/*/*.json*"):
        assert "live-mlx" not in path.read_text(), path.name


def test_the_fingerprint_is_read_once_a_reply_has_come(engines: Engines) -> None:
    request = ChatRequest(
        mlx_server.MODEL, ({"role": "user", "content": "Hi"},), temperature=0.0, seed=1, max_tokens=2
    )
    endpoint = Endpoint(base_url=engines.mlx)
    with ChatClient(endpoint) as client:
        reply = client.ask(request)
    assert (reply.status, reply.completion_tokens) == ("truncated", 2)
    assert re.match(r"0\.32\.2-0\.32\.4-", reply.system_fingerprint or "")
    before = probe_build_metadata(endpoint, None, [mlx_server.MODEL])
    assert (before.engine, before.engine_version) == ("mlx-lm", None)
    after = probe_build_metadata(endpoint, None, [mlx_server.MODEL], fingerprint=reply.system_fingerprint)
    assert (after.engine_version, after.runtime) == ("0.32.2", "mlx 0.32.4")


def test_a_schema_is_kept_by_one_and_passed_over_by_the_other(engines: Engines) -> None:
    with ChatClient(Endpoint(base_url=engines.llama)) as client:
        assert schema_works(client.ask, MODEL_NAME)
    with ChatClient(Endpoint(base_url=engines.mlx)) as client:
        assert not schema_works(client.ask, mlx_server.MODEL, max_tokens=16)


def test_mlx_says_that_it_is_alive_before_it_says_anything(engines: Engines) -> None:
    body = {
        "model": mlx_server.MODEL,
        "messages": [{"role": "user", "content": "What is the capital of France?"}],
        "stream": True,
        "max_tokens": 1,
    }
    asked = urllib.request.Request(
        f"{engines.mlx}/chat/completions",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(asked, timeout=60) as reply:
        lines = [line for line in reply.read().decode().splitlines() if line]
    assert lines[0].startswith(": keepalive")
    assert lines[-1] == "data: [DONE]"
