"""Kill -9 anywhere in a check whose confirm step has everything to do, go on, and get the same comparison."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.chat_server import ChatServer
from tests.kit.cli import start, touchstone
from tests.kit.minds import (
    CHECK_DRAW,
    JUDGE,
    MODEL,
    Clerk,
    Given,
    Scores,
    clerk_project,
    pack_text,
    usual_scores,
    with_baseline,
)
from tests.kit.scratch import ScratchRepo
from touchstone.run.find import list_bundles

ROWS, KILLS = 12, 4
RUN_FIELDS = {"run", "speed"}


def everything(given: Given) -> Scores:
    """A little lower in four rows, and much lower in one: the suite and a row are suspect."""
    usual = usual_scores(given)
    if given.draw < CHECK_DRAW:
        return usual
    if given.prompt == "P05":
        return {"Q1": 3, "Q2": 2}
    return {"Q1": 3, "Q2": 4} if given.prompt in {"P04", "P07"} else usual


def flagged(given: Given) -> bool:
    return given.prompt == "P08" and given.draw == CHECK_DRAW and given.pass_ in {0, 3}


@pytest.fixture
def clerk() -> Clerk:
    return Clerk(scores=everything, flags=flagged)


@pytest.fixture
def server(clerk: Clerk) -> Iterator[ChatServer]:
    with ChatServer(clerk, models=(MODEL, JUDGE)) as running:
        yield running


@pytest.fixture
def repo(tmp_path: Path, server: ChatServer) -> ScratchRepo:
    made = with_baseline(clerk_project(tmp_path / "project", server.base_url, pack_text("judged", ROWS)))
    shutil.rmtree(made.path / "runs")
    return made


def verdict_of(repo: ScratchRepo, run: str) -> Any:
    kept = json.loads((repo.path / "runs" / run / "comparison.json").read_text())
    kept["candidate"].pop("run")
    return {key: value for key, value in kept.items() if key not in RUN_FIELDS}


def run_ids(repo: ScratchRepo) -> list[str]:
    return [bundle.id for bundle in list_bundles(repo.path / "runs")]


def killed_after(repo: ScratchRepo, order: tuple[str, ...], seconds: float) -> bool:
    """Whether the command was still at it, and is dead now."""
    process = start(repo.path, ["check", "-q", *order])
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return True
    process.communicate()
    return False


def test_a_check_killed_anywhere_decides_like_one_that_was_not(
    repo: ScratchRepo, server: ChatServer, clerk: Clerk
) -> None:
    before = clerk.answers + clerk.verdicts
    assert touchstone(repo.path, "check", "-q").code == 1
    calls = clerk.answers + clerk.verdicts - before
    assert calls > 2 * (3 * ROWS), "the suite, a row, a flag and the control"
    (whole,) = run_ids(repo)
    uninterrupted = verdict_of(repo, whole)
    assert {found["rule"] for found in uninterrupted["suspicions"]} == {"flag"}

    server.service_s = 0.02
    chance, run, kills, ended = random.Random(11), "", 0, 0
    before = clerk.answers + clerk.verdicts
    while kills < KILLS or run:
        seconds = chance.uniform(0.6, 1.8) if kills < KILLS else 60
        if killed_after(repo, ("--resume", run) if run else (), seconds):
            kills += 1
        known = {whole} | {name for name in run_ids(repo) if (repo.path / "runs" / name / "done").exists()}
        new = [name for name in run_ids(repo) if name not in known]
        run = new[-1] if new else ""
        if run and (repo.path / "runs" / run / "comparison.json").exists():
            assert verdict_of(repo, run) == uninterrupted
            (repo.path / "runs" / run / "done").touch()
            ended, run = ended + 1, ""
    assert ended >= 1
    asked = clerk.answers + clerk.verdicts - before
    # A start may ask the preflight anew, and what was in flight.
    assert asked <= ended * calls + 3 * (kills + ended), "more than the request in flight was asked again"
    rounds = json.loads((repo.path / "runs" / whole / "confirm.json").read_text())["rounds"]
    for name in run_ids(repo):
        assert json.loads((repo.path / "runs" / name / "confirm.json").read_text())["rounds"] == rounds


def test_a_check_killed_before_its_result_was_written_is_not_taken_for_unjudged(repo: ScratchRepo) -> None:
    assert touchstone(repo.path, "check", "-q").code == 1
    (run,) = run_ids(repo)
    folder = repo.path / "runs" / run
    whole = verdict_of(repo, run)
    asked_only = json.loads((folder / "result.json").read_text())
    asked_only["run"]["judged"] = None
    for row in asked_only["rows"]:
        row.update(state=None, pct=None, below_line=None)
        for repeat in row["repeats"]:
            repeat.update(verdict=None, scores={}, red_flag=None)
    (folder / "result.json").write_text(json.dumps(asked_only))
    (folder / "confirm.json").unlink()
    (folder / "comparison.json").unlink()
    assert touchstone(repo.path, "check", "-q", "--resume", run).code == 1
    assert verdict_of(repo, run) == whole


def test_ctrl_c_in_the_confirm_step_names_the_command_that_goes_on(
    repo: ScratchRepo, server: ChatServer
) -> None:
    server.service_s = 0.1
    process = start(repo.path, ["check", "-q"])
    (confirm,) = _wait_for(repo, "runs/*/confirm.json")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert f"touchstone check --resume {confirm.parent.name}" in err
    server.service_s = 0
    assert touchstone(repo.path, "check", "-q", "--resume", confirm.parent.name).code == 1


def _wait_for(repo: ScratchRepo, pattern: str) -> list[Path]:
    until = time.monotonic() + 60
    while not (found := list(repo.path.glob(pattern))) and time.monotonic() < until:
        time.sleep(0.02)
    return found
