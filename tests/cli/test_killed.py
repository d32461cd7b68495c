"""Kill -9 at random moments of eval and judge, go on, and get the result of the uninterrupted run.

The crash matrix strikes at every file operation; here the clock strikes, wherever that is.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer
from tests.kit.cli import start, touchstone
from tests.kit.scratch import ScratchRepo
from tests.kit.timeless import without_times

POINTS = 6


def result_of(repo: ScratchRepo, run: str) -> Any:
    return without_times(json.loads((repo.path / "runs" / run / "result.json").read_text()))


def lines(path: Path) -> int:
    return len(path.read_bytes().splitlines()) if path.exists() else 0


@pytest.fixture
def uninterrupted(repo: ScratchRepo) -> Any:
    done = touchstone(repo.path, "measure", "--pack", "care", "-q")
    assert done.code == 0, done.err
    return result_of(repo, desk.run_ids(repo)[0])


def launch_and_kill(repo: ScratchRepo, server: ChatServer, order: tuple[str, ...], after_s: float) -> bool:
    """Start measuring, kill it after a while; what was answered must be on disk. True if it was killed."""
    kept, asked = lines_by_file(repo), len(server.chats)
    process = start(repo.path, ["measure", *order, "-q"])
    try:
        process.wait(after_s)
        killed = False
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        killed = True
    process.communicate()
    models = [chat.body["model"] for chat in server.chats[asked:]]
    now = lines_by_file(repo)
    for model, name in ((desk.MODEL, "responses.jsonl"), (desk.JUDGE, "judgements.jsonl")):
        # The first request to each is not a sample: the model's preflight, the judge's schema self-test.
        samples = max(models.count(model) - 1, 0)
        in_flight = samples - (now[name] - kept[name])
        assert 0 <= in_flight <= 1, f"{name}: {in_flight} answers were given and are not there"
    return killed


def lines_by_file(repo: ScratchRepo) -> Counter[str]:
    """Whole lines of all runs, by file name."""
    counts: Counter[str] = Counter()
    for path in repo.path.glob("runs/*/*.jsonl"):
        counts[path.name] += path.read_bytes().count(b"\n")
    return counts


def test_a_run_killed_anywhere_loses_nothing_and_ends_like_one_that_was_not(
    repo: ScratchRepo, server: ChatServer, uninterrupted: Any
) -> None:
    chance = random.Random(7)
    server.service_s = 0.05
    known = set(desk.run_ids(repo))
    kills, finished = 0, 0
    order: tuple[str, ...] = ("--pack", "care")
    while kills < POINTS or not finished:
        # From before the manifest is there to after the last verdict: every point of the run.
        kills += launch_and_kill(repo, server, order, chance.uniform(0.3, 1.8))
        run = next((name for name in desk.run_ids(repo) if name not in known), None)
        order = ("--resume", run) if run else ("--pack", "care")
        if run and (kills >= POINTS or chance.random() < 0.3):
            assert touchstone(repo.path, "measure", "--resume", run, "-q").code == 0
            assert result_of(repo, run) == uninterrupted
            known.add(run)
            finished += 1
            order = ("--pack", "care")


def test_ctrl_c_keeps_everything_and_says_how_to_go_on(repo: ScratchRepo, server: ChatServer) -> None:
    server.service_s = 0.3
    process = start(repo.path, ["measure", "--pack", "desk"])
    until = time.monotonic() + 20
    while len(server.chats) < 3 and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    (run,) = desk.run_ids(repo)
    assert process.returncode == 130
    assert f"touchstone measure --resume {run}" in err
    assert "Traceback" not in err
    kept = lines(repo.path / "runs" / run / "responses.jsonl")
    assert 1 <= kept <= 3
    server.service_s = 0
    assert touchstone(repo.path, "measure", "--resume", run, "-q").code == 0
    assert lines(repo.path / "runs" / run / "responses.jsonl") == 5


def test_a_server_that_dies_mid_run_keeps_the_answers_and_the_run_goes_on(
    repo: ScratchRepo, server: ChatServer, mind: desk.Mind
) -> None:
    mind.dies_after = 2
    done = touchstone(repo.path, "measure", "--pack", "desk", "-q")
    assert done.code == 2
    assert "stopped answering" in done.err
    (run,) = desk.run_ids(repo)
    assert f"touchstone measure --resume {run}" in done.err
    assert len(server.chats) == 5, "the preflight, one answer, then three failures in a row"
    mind.dies_after = None
    assert touchstone(repo.path, "measure", "--resume", run, "-q").code == 0
    assert len(server.chats) == 10, "the preflight and the four open ones"
    result = json.loads((repo.path / "runs" / run / "result.json").read_text())
    assert result["run"]["complete"] is True


def test_a_resumed_run_goes_on_as_frozen_and_names_what_moved(repo: ScratchRepo, mind: desk.Mind) -> None:
    mind.dies_after = 2
    touchstone(repo.path, "measure", "--pack", "desk", "-q")
    (run,) = desk.run_ids(repo)
    mind.dies_after = None
    pack = repo.path / "packs" / "desk.yaml"
    pack.write_text(pack.read_text().replace('value: "TWO"', 'value: "TWO", threshold: 0.5'))
    repo.write("prompts/house.md", "Another prompt.\n")
    done = touchstone(repo.path, "measure", "--resume", run, "-q")
    assert done.code == 0
    assert "rules: sha256:" in done.err
    assert "variant house: its text" in done.err
    result = json.loads((repo.path / "runs" / run / "result.json").read_text())
    assert result["variants"]["house"]["text"] == desk.PROMPT
    assert result["cells"][0]["quality"]["pct"] == 80
