"""Ordinary trouble, through the real command line: no traceback, what is wrong, where, and what to do."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer
from tests.kit.cli import Done, environment, start, touchstone
from tests.kit.scratch import ScratchRepo, clone

BASELINE = "baselines/default/desk.json"


def no_bug(done: Done, code: int, said: str) -> None:
    assert "Traceback" not in done.err, done.err
    assert done.code == code, done.err
    assert said in done.err, done.err


def promoted(repo: ScratchRepo) -> list[str]:
    assert touchstone(repo.path, "measure", "--pack", "desk", "--times", "3", "-q").code == 0
    runs = desk.run_ids(repo)
    assert touchstone(repo.path, "promote", *runs, "--here").code == 0
    return runs


def test_a_runs_folder_that_cannot_be_made_is_named(repo: ScratchRepo) -> None:
    repo.write("file", "x")
    no_bug(touchstone(repo.path, "measure", "--pack", "desk", "--runs-dir", "file"), 4, "file")
    no_bug(
        touchstone(repo.path, "measure", "--pack", "desk", "--runs-dir", "/proc/x"),
        4,
        "/proc/x: cannot be written",
    )


@pytest.mark.parametrize("command", [("--help",), ("validate", "packs"), ("list",)])
def test_a_full_disk_under_the_output_is_no_bug(repo: ScratchRepo, command: tuple[str, ...]) -> None:
    if not Path("/dev/full").exists():
        pytest.fail("this system has no /dev/full; give the test another full file")
    repo.write("packs/broken.yaml", "schema: 1\n")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "touchstone", *command], cwd=repo.path, env=environment(repo.path.parent),
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert done.returncode == 4


def test_a_closed_stdout_is_no_bug(repo: ScratchRepo) -> None:
    done = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m touchstone validate packs >&-"], cwd=repo.path,
        env=environment(repo.path.parent), stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("between", "said"),
    [
        ("/nope/cmd", "no such command"),
        ('a "b', "no closing quotation"),
        ("", "no such command"),
        ("/tmp", "no such command"),
        ("true && true", "means nothing without a shell"),
    ],
)
def test_a_restart_that_cannot_work_is_refused_before_anything_is_asked(
    repo: ScratchRepo, server: ChatServer, between: str, said: str
) -> None:
    done = touchstone(repo.path, "measure", "--pack", "desk", "--times", "2", "--between", between)
    no_bug(done, 64, said)
    assert server.requests == []


def test_a_restart_that_fails_says_how_and_keeps_the_runs(repo: ScratchRepo) -> None:
    done = touchstone(
        repo.path,
        "measure",
        "--pack",
        "desk",
        "--times",
        "2",
        "--between",
        "sh -c 'echo broken >&2; exit 3'",
        "-q",
    )
    no_bug(done, 2, "exit code 3: broken")
    assert len(desk.run_ids(repo)) == 1


def test_ctrl_c_while_the_engine_restarts_is_an_interrupt(repo: ScratchRepo, server: ChatServer) -> None:
    process = start(repo.path, ["measure", "--pack", "desk", "--times", "2", "--between", "sleep 30"])
    until = time.monotonic() + 30
    while len(server.chats) < 6 and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(1.0)
    children = subprocess.run(
        ["pgrep", "-P", str(process.pid), "sleep"], capture_output=True, text=True, check=False
    )
    process.send_signal(signal.SIGINT)
    for child in children.stdout.split():
        os.kill(int(child), signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err


@pytest.mark.parametrize(
    "flags",
    [
        ("--concurrency", "0"), ("--max-calls", "0"), ("--base-url", "ftp://x"), ("--times", "0"),
        ("--limit", "0"),
        ("--resume", "x", "--times", "3"), ("--resume", "x", "--pack", "desk"),
    ],
)  # fmt: skip
def test_flags_that_cannot_be_meant_are_wrong_usage(repo: ScratchRepo, flags: tuple[str, ...]) -> None:
    done = touchstone(repo.path, "measure", *flags)
    no_bug(done, 64, flags[0])


def test_another_baseline_at_the_path_is_refused_everywhere(repo: ScratchRepo) -> None:
    runs = promoted(repo)
    other = repo.path / "baselines/acme/desk.json"
    other.parent.mkdir()
    shutil.move(repo.path / BASELINE, other)
    assert (
        "this is the baseline of pack desk, tenant default"
        in touchstone(repo.path, "validate", str(other)).out
    )
    repo.git("add", "-A")
    repo.git("commit", "-qm", "moved")
    refused = touchstone(repo.path, "promote", *runs, "--here", "--tenant", "acme", "--reason", "x")
    assert refused.code == 4
    assert "tenant default" in refused.err


def test_a_formatter_in_the_baselines_folder_is_found_and_mended(repo: ScratchRepo) -> None:
    runs = promoted(repo)
    path = repo.path / BASELINE
    before = path.read_text()
    path.write_text(json.dumps(json.loads(before), indent=2))
    assert touchstone(repo.path, "validate", BASELINE).code == 4
    repo.git("commit", "-qam", "formatted")
    refused = touchstone(repo.path, "promote", *runs, "--here", "--reason", "x")
    assert f"touchstone promote --refresh {BASELINE}" in refused.err
    assert touchstone(repo.path, "promote", "--refresh", BASELINE).code == 0
    assert path.read_text() == before
    assert touchstone(repo.path, "validate", BASELINE).code == 0


def test_half_a_character_in_a_kept_file_is_named(repo: ScratchRepo) -> None:
    promoted(repo)
    path = repo.path / BASELINE
    path.write_text(path.read_text().replace('"title": "A desk"', '"title": "\\ud800"'))
    done = touchstone(repo.path, "validate", BASELINE)
    assert done.code == 4
    assert "half a character" in done.out
    lines = next(repo.path.glob("runs/*/responses.jsonl"))
    lines.write_text(lines.read_text().replace("it is", "\\ud800", 1))
    no_bug(
        touchstone(repo.path, "judge", "--bundle", lines.parent.name),
        4,
        "responses.jsonl:1: half a character",
    )


def test_the_cause_of_a_failed_answer_is_told(repo: ScratchRepo, mind: desk.Mind) -> None:
    mind.fails_on = "two?"
    done = touchstone(repo.path, "measure", "--pack", "desk", "-q")
    assert done.code == 0, "one row of five is within the allowance"
    run = desk.run_ids(repo)[0]
    assert "planned failure" in touchstone(repo.path, "report", run).out
    assert "planned failure" in touchstone(repo.path, "show", run, "A2").out


def test_show_writes_only_where_it_can(repo: ScratchRepo) -> None:
    promoted(repo)
    no_bug(
        touchstone(repo.path, "show", "desk", "--variant", "house", "--write", "/nonexist/x"),
        4,
        "/nonexist/x: cannot be written",
    )


def test_a_run_of_which_nothing_was_judged_says_nothing(repo: ScratchRepo, mind: desk.Mind) -> None:
    mind.prose = True
    one = touchstone(repo.path, "measure", "--pack", "care", "--only", "C2", "-q")
    assert one.code == 2, one.out


def test_the_command_that_goes_on_repeats_the_flags_of_the_start(
    repo: ScratchRepo, server: ChatServer, mind: desk.Mind
) -> None:
    repo.path.joinpath("touchstone.yaml").unlink()
    mind.dies_after = 2
    done = touchstone(
        repo.path, "measure", "--pack", "desk", "--base-url", server.base_url, "--model", desk.MODEL,
        "--runs-dir", "my runs", "-q",
    )  # fmt: skip
    assert done.code == 2
    (line,) = [line for line in done.err.splitlines() if "go on:" in line]
    command = shlex.split(line.partition("go on: ")[2])
    assert command[:2] == ["touchstone", "measure"]
    mind.dies_after = None
    assert touchstone(repo.path, *command[1:]).code == 0


def test_max_minutes_is_felt_while_a_server_is_silent(repo: ScratchRepo, server: ChatServer) -> None:
    server.service_s = 60
    began = time.monotonic()
    done = touchstone(repo.path, "measure", "--pack", "desk", "--max-minutes", "0.03", "-q")
    no_bug(done, 2, "max_minutes (0.03) used up")
    assert time.monotonic() - began < 30
    server.service_s = 0


def test_eval_tells_how_many_answered_and_failed(repo: ScratchRepo, mind: desk.Mind) -> None:
    mind.fails_on = "two?"
    done = touchstone(repo.path, "eval", "--pack", "desk", "-q")
    assert "4 of 5 answered · 1 error" in done.out
    assert "0 pass" not in done.out


def test_a_shallow_clone_without_the_default_branch_is_not_held_against_itself(repo: ScratchRepo) -> None:
    promoted(repo)
    repo.git("switch", "-qc", "feat")
    repo.write("prompts/house.md", "Worse.\n")
    repo.commit("worse")
    assert touchstone(repo.path, "measure", "--pack", "desk", "--times", "3", "-q").code == 0
    worse = desk.run_ids(repo)[-3:]
    assert touchstone(repo.path, "promote", *worse, "--here", "--reason", "mine").code == 0
    repo.git("switch", "-q", "main")
    shallow = clone(repo, repo.path.parent / "shallow", "--depth", "1", "--branch", "feat")
    no_bug(touchstone(shallow.path, "check", "--pack", "desk", "-q"), 4, "nothing agreed to can be read")
    shallow.git("fetch", "-q", "--depth=1", "origin", "main:refs/remotes/origin/main")
    named = touchstone(shallow.path, "check", "--pack", "desk", "-q", "--baseline-from", "origin/main")
    assert named.code == 1, named.err
