"""The embedded engine's process: started once, ended only if it is ours, and honest when it cannot run."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.kit.engine import cache_with_model
from touchstone.demo import engine
from touchstone.demo.engine import EmbeddedEngine
from touchstone.errors import BadInputError, EngineError
from touchstone.files import write_json


@pytest.mark.parametrize(
    ("system", "machine", "libc", "expected"),
    [
        ("linux", "x86_64", "glibc", True),
        ("linux", "aarch64", "glibc", True),
        ("darwin", "arm64", "", True),
        ("darwin", "x86_64", "", False),
        ("linux", "x86_64", "", False),
        ("linux", "riscv64", "glibc", False),
    ],
)
def test_builds_exist_for_these_machines_only(system: str, machine: str, libc: str, expected: bool) -> None:
    assert engine.has_wheel(system, machine, libc) is expected


def test_a_port_that_was_taken_meanwhile_ends_the_server_with_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        served = [sys.executable, "-m", "touchstone.demo.serve", str(tmp_path / "no.gguf"), port, "m"]
        done = subprocess.run(served, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    # llama.cpp logs in a thread of its own, which may end before or after.
    assert f"the model server could not start on port {port}" in done.stderr.splitlines()
    assert f"port: {port}" in done.stderr, "llama.cpp's own reason stands beside it"
    assert "Traceback" not in done.stderr


def test_nothing_runs_in_a_new_cache(tmp_path: Path) -> None:
    assert engine.status(tmp_path) is None
    assert engine.stop(tmp_path) is None


@pytest.fixture
def stranger() -> Iterator[psutil.Process]:
    """A process that is not an engine."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        yield psutil.Process(process.pid)
        process.kill()


def test_a_process_that_only_has_the_recorded_id_is_never_ended(
    tmp_path: Path, stranger: psutil.Process
) -> None:
    _record(tmp_path, stranger.pid, stranger.create_time() - 3600)
    assert engine.status(tmp_path) is None
    assert engine.stop(tmp_path) is None
    assert stranger.is_running()


def test_a_process_with_id_and_start_time_is_ended(tmp_path: Path, stranger: psutil.Process) -> None:
    _record(tmp_path, stranger.pid, stranger.create_time())
    ended = engine.stop(tmp_path)
    assert ended is not None
    assert ended.pid == stranger.pid
    assert not stranger.is_running() or stranger.status() == psutil.STATUS_ZOMBIE
    assert engine.status(tmp_path) is None


def test_a_state_file_that_is_none_says_what_to_delete(tmp_path: Path) -> None:
    write_json(tmp_path / "engine.json", {"pid": "x"})
    with pytest.raises(BadInputError, match=r"engine\.json: not an engine state") as caught:
        engine.status(tmp_path)
    assert str(caught.value.hint).startswith("Delete it: rm ")


def test_a_named_port_that_is_taken_is_refused_before_anything_is_fetched(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BadInputError, match=f"port {port} is taken"):
            engine.start(tmp_path, pytest.fail, port)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache that has the model, and no engine left when the tests are done."""
    folder = cache_with_model(tmp_path_factory.mktemp("engine"))
    yield folder
    engine.stop(folder)


@pytest.mark.engine
def test_engine_starts_answers_restarts_and_ends(cache: Path) -> None:
    said: list[str] = []
    first = engine.start(cache, said.append)
    assert said == [
        f"starting the embedded engine (llama.cpp, model smollm2-135m-instruct) on {first.base_url}"
    ]
    assert _answer(first, "What is 2 + 2?").strip()
    assert engine.start(cache, pytest.fail) == first
    with pytest.raises(BadInputError, match=f"already runs on port {first.port}"):
        engine.start(cache, pytest.fail, first.port - 1)

    second = engine.restart(cache, said.append)
    assert second.base_url == first.base_url
    assert (second.pid, second.created) != (first.pid, first.created)
    assert engine.is_ready(second)

    assert engine.stop(cache) == second
    assert engine.status(cache) is None
    assert not engine.is_ready(second)


@pytest.mark.engine
def test_engine_serves_what_a_probe_asks_for(cache: Path) -> None:
    running = engine.start(cache, print)
    props = _get(running, "/props")
    assert props["model_alias"] == "smollm2-135m-instruct"
    assert props["total_slots"] == 1
    assert props["default_generation_settings"]["n_ctx"] == 2048
    assert _get(running, "/slots")


@pytest.mark.engine
def test_engine_that_dies_while_starting_shows_its_log(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.stop(cache)
    (tmp_path / "xllamacpp.py").write_text("raise SystemExit('no such instruction')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(EngineError, match=r"ended while starting\. Last lines of .*\nno such instruction"):
        engine.start(cache, print)
    assert engine.status(cache) is None
    assert not (cache / "engine.json").exists()
    assert [child for child in psutil.Process().children() if child.status() == psutil.STATUS_ZOMBIE] == []


def _record(cache: Path, pid: int, created: float) -> None:
    write_json(
        cache / "engine.json",
        {"pid": pid, "created": created, "port": 1, "model": "m", "log": str(cache / "engine.log")},
    )


def _answer(running: EmbeddedEngine, question: str) -> str:
    body = {"messages": [{"role": "user", "content": question}], "max_tokens": 8, "temperature": 0}
    request = urllib.request.Request(
        f"{running.base_url}/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        return str(json.load(reply)["choices"][0]["message"]["content"])


def _get(running: EmbeddedEngine, path: str) -> Any:
    with urllib.request.urlopen(f"http://127.0.0.1:{running.port}{path}", timeout=10) as reply:
        return json.load(reply)


@pytest.mark.engine
def test_two_that_start_at_once_are_two_engines(tmp_path: Path) -> None:
    folders = [cache_with_model(tmp_path / name) for name in ("one", "two")]
    try:
        with ThreadPoolExecutor() as threads:
            first, second = threads.map(lambda folder: engine.start(folder, print), folders)
        assert first.pid != second.pid
        assert first.port != second.port
        for running, folder in zip((first, second), folders, strict=True):
            assert engine.status(folder) == running
            assert engine.is_ready(running)
    finally:
        for folder in folders:
            engine.stop(folder)
