"""The command line against a real model on llama.cpp: what it tells, seeds, a stop, and it as a judge."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit import desk
from tests.kit.cli import start, touchstone
from tests.kit.engine import cache_with_model
from tests.kit.scratch import ScratchRepo, scratch_repo
from touchstone.demo import engine as embedded
from touchstone.demo.model import MODEL_NAME
from touchstone.errors import ExitCode

pytestmark = pytest.mark.engine

PACK = """\
schema: 1
id: small
version: 1
title: Small
prompt_variants: [{id: none, system_prompt: null}]
sampling: {temperature: TEMPERATURE, seed: 42, max_tokens: TOKENS}
categories:
  - id: A
    name: A
    prompts:
"""
JUDGED = """\
schema: 1
id: judged
version: 1
title: Judged
scale: {1: useless, 2: poor, 3: usable, 4: good, 5: excellent}
dimensions: [{id: Q1, name: Right, weight: 1, threshold: 3}]
prompt_variants: [{id: none, system_prompt: null}]
sampling: {temperature: 0.0, seed: 42, max_tokens: 8}
calibration:
  - {id: cal-paris, prompt: "What is the capital of France?", answer: "Paris.", expect: {Q1: [4, 5]}}
  - {id: cal-cheese, prompt: "What is the capital of France?", answer: "A cheese.", expect: {Q1: [1, 2]}}
  - {id: cal-four, prompt: "What is 2 + 2?", answer: "The sum is 4.", expect: {Q1: [4, 5]}}
  - {id: cal-seven, prompt: "What is 2 + 2?", answer: "The sum is 7.", expect: {Q1: [1, 2]}}
  - {id: cal-green, prompt: "Name a colour.", answer: "Green.", expect: {Q1: [4, 5]}}
  - {id: cal-tuesday, prompt: "Name a colour.", answer: "Tuesday.", expect: {Q1: [1, 2]}}
categories:
  - id: A
    name: A
    prompts: [{id: A1, prompt: "Say hello."}, {id: A2, prompt: "Say goodbye."}]
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = cache_with_model(tmp_path_factory.mktemp("engine"))
    try:
        yield folder
    finally:
        embedded.stop(folder)


@pytest.fixture
def repo(tmp_path: Path, cache: Path) -> ScratchRepo:
    """A project whose settings name the embedded engine, started where it is not running."""
    running = embedded.start(cache, lambda _: None)
    project = scratch_repo(tmp_path / "project")
    settings = (
        f"schema: 1\nendpoint: {{base_url: '{running.base_url}', retries: 0}}\n"
        f"models: [{{id: {MODEL_NAME}}}]\njudge: {{model: {MODEL_NAME}, max_tokens: 48}}\n"
    )
    project.commit("base", {"touchstone.yaml": settings, "packs/judged.yaml": JUDGED})
    return project


def asks(repo: ScratchRepo, *, prompts: int, repeats: int, tokens: int, temperature: float = 0.0) -> None:
    """Write a pack of so many questions."""
    head = PACK.replace("TEMPERATURE", str(temperature)).replace("TOKENS", str(tokens))
    check = "[{type: regex, pattern: '[A-Za-z]'}]"
    lines = [
        f'      - {{id: A{n}, prompt: "Tell a story about {n} cats.", repeats: {repeats}, checks: {check}}}\n'
        for n in range(1, prompts + 1)
    ]
    repo.write("packs/small.yaml", head + "".join(lines))


def evaluated(repo: ScratchRepo) -> Path:
    before = set(desk.run_ids(repo))
    done = touchstone(repo.path, "eval", "--pack", "small", "-q")
    assert done.code == ExitCode.NOTHING_WORSE, done.err
    (new,) = set(desk.run_ids(repo)) - before
    return repo.path / "runs" / new


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def responses(run: Path) -> list[Any]:
    path = run / "responses.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def texts(run: Path) -> list[str]:
    return [line["response_text"] for line in responses(run)]


def test_repeats_at_a_temperature_differ_and_the_run_repeats_itself(repo: ScratchRepo) -> None:
    asks(repo, prompts=2, repeats=3, tokens=16, temperature=0.8)
    first, second = evaluated(repo), evaluated(repo)
    assert [line["seed"] for line in responses(first)] == [42, 43, 44] * 2
    for n in (0, 3):
        assert len(set(texts(first)[n : n + 3])) == 3
    assert texts(first) == texts(second)
    assert read(first / "blocks.jsonl")["seed"] == "honoured"


def test_what_the_engine_tells_is_recorded_and_nothing_else(repo: ScratchRepo, cache: Path) -> None:
    asks(repo, prompts=2, repeats=1, tokens=8)
    run = evaluated(repo)
    provenance, (cell,) = (read(run / "result.json")[part] for part in ("provenance", "cells"))
    told = {name: provenance[name] for name in ("engine", "engine_version", "runtime")}
    assert told == {"engine": "llama.cpp", "engine_version": None, "runtime": None}, (
        "this wheel hides its build"
    )
    assert (cell["quant"], cell["quant_origin"]) == ("Q4_1", "probe")
    assert set(provenance["origins"]) == {"engine", "served_model", "quant_by_model", "context_length"}
    (model,) = read(run / "manifest.json")["models"]
    assert model["context_length"] >= 1024
    assert model["served_model"].endswith(".gguf")
    running = embedded.status(cache)
    assert running is not None
    assert read(run / "manifest.json")["launch"].startswith(f"{running.pid}:")
    assert str(cache) not in (run / "manifest.json").read_text() + (run / "result.json").read_text()


def test_an_engine_stopped_in_the_middle_keeps_what_it_has_and_goes_on(
    repo: ScratchRepo, cache: Path
) -> None:
    asks(repo, prompts=8, repeats=1, tokens=32)
    whole = texts(evaluated(repo))
    before = set(desk.run_ids(repo))
    process = start(repo.path, ["eval", "--pack", "small", "-q"])
    until, run = time.monotonic() + 60, repo.path
    while time.monotonic() < until and len(responses(run)) < 3:
        time.sleep(0.02)
        run = next((repo.path / "runs" / new for new in set(desk.run_ids(repo)) - before), repo.path)
    ended = embedded.stop(cache)
    assert ended is not None
    _, err = process.communicate(timeout=60)
    assert process.returncode == ExitCode.NOT_JUDGED, err
    assert f"touchstone eval --resume {run.name}" in err
    good = [line for line in responses(run) if line["status"] != "error"]
    assert 3 <= len(good) < 8
    embedded.start(cache, lambda _: None, ended.port)
    done = touchstone(repo.path, "eval", "--resume", run.name, "-q")
    assert done.code == ExitCode.NOTHING_WORSE, done.err
    kept = [line for line in responses(run) if line["status"] != "error"]
    assert kept[: len(good)] == good, "no answer was asked twice"
    assert [line["response_text"] for line in kept] == whole


def test_the_embedded_model_is_no_judge_and_no_answer_is_shown_to_it(repo: ScratchRepo) -> None:
    done = touchstone(repo.path, "measure", "--pack", "judged", "-q")
    assert done.code == ExitCode.NOT_JUDGED
    assert f"judge is not calibrated: {MODEL_NAME}: item cal-" in done.err
    (run,) = (repo.path / "runs" / name for name in desk.run_ids(repo))
    assert [line["status"] for line in responses(run)] != []
    assert len(responses(run)) == 2, "the answers are kept"
    judgements = run / "judgements.jsonl"
    assert not judgements.exists() or judgements.read_text() == ""
    assert read(run / "result.json")["cells"][0]["quality"] is None
