from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from touchstone.engine.lock import engine_lock, lock_path
from touchstone.errors import NotJudgedError


def test_one_machine_has_one_lock_per_port(tmp_path: Path) -> None:
    names = {
        lock_path(url, tmp_path)
        for url in ("http://127.0.0.1:1234/v1", "http://localhost:1234", "http://[::1]:1234/v1")
    }
    assert len(names) == 1
    assert lock_path("http://127.0.0.1:1235/v1", tmp_path) not in names
    assert lock_path("http://mac.example:1234/v1", tmp_path) not in names


def test_a_busy_engine_is_refused_at_once_without_waiting(tmp_path: Path) -> None:
    url, said = "http://127.0.0.1:1234/v1", list[str]()
    with (
        engine_lock(url, wait_s=0, say=said.append, folder=tmp_path),
        pytest.raises(NotJudgedError, match="another touchstone run is using") as caught,
        engine_lock(url, wait_s=0, say=said.append, folder=tmp_path),
    ):
        pass
    assert caught.value.hint is not None
    assert "--wait" in caught.value.hint
    assert said == []


def test_waiting_says_so_and_ends_when_the_other_is_done(tmp_path: Path) -> None:
    url, said, held, release = "http://127.0.0.1:1234/v1", list[str](), threading.Event(), threading.Event()

    def other() -> None:
        with engine_lock(url, wait_s=0, say=said.append, folder=tmp_path):
            held.set()
            release.wait(10)

    thread = threading.Thread(target=other)
    thread.start()
    held.wait(10)
    threading.Timer(0.3, release.set).start()
    began = time.monotonic()
    with engine_lock(url, wait_s=30, say=said.append, folder=tmp_path):
        waited = time.monotonic() - began
    thread.join()
    assert said == [f"waiting for another run on {url} (0 min so far)"]
    assert waited < 20


def test_a_wait_ends_when_told_to_stop(tmp_path: Path) -> None:
    url = "http://127.0.0.1:1234/v1"
    with (
        engine_lock(url, wait_s=0, say=print, folder=tmp_path),
        pytest.raises(NotJudgedError),
        engine_lock(url, wait_s=3600, say=lambda _: None, stop=lambda: True, folder=tmp_path),
    ):
        pass
