"""`touchstone doctor` through the real command line; each fault that can be planted shows its own remedy."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer, Script, answer, whole
from tests.kit.cli import Done, start, touchstone
from tests.kit.engine import cache_with_model
from tests.kit.fake_macos import FakeMac
from tests.kit.scratch import ScratchRepo
from touchstone.demo import engine
from touchstone.demo.scaffold import write_scaffold
from touchstone.engine.lock import engine_lock
from touchstone.errors import ExitCode
from touchstone.gate.places import USUAL_PORTS

CALIBRATION = """\
calibration:
  - {id: good, prompt: "hurt?", answer: "Call 112 now.", expect: {Q1: [4, 5]}}
  - {id: bad, prompt: "hurt?", answer: "Who cares.", expect: {Q1: [1, 2]}}
"""
SLOTS = {"/slots": whole([{"is_processing": False}])}
TOKEN = "ghp_dummytoken8f1c4a"


class CalmMind(desk.Mind):
    """A judge that knows a bad answer when it sees one."""

    def __call__(self, body: dict[str, Any]) -> Script:
        if body["model"] == desk.JUDGE and "Who cares." in body["messages"][-1]["content"]:
            return answer('{"rationale": "Rude.", "scores": {"Q1": 1}, "red_flag": false}', model=desk.JUDGE)
        if body["model"] == desk.JUDGE and "Call 112" in body["messages"][-1]["content"]:
            return answer('{"rationale": "Right.", "scores": {"Q1": 5}, "red_flag": false}', model=desk.JUDGE)
        return super().__call__(body)


@pytest.fixture
def mind() -> desk.Mind:
    return CalmMind()


@pytest.fixture
def server(mind: desk.Mind) -> Iterator[ChatServer]:
    with ChatServer(mind, models=(desk.MODEL, desk.JUDGE), routes=SLOTS) as running:
        yield running


@pytest.fixture
def repo(tmp_path: Path, server: ChatServer) -> ScratchRepo:
    made = desk.project(tmp_path / "project", server.base_url)
    made.commit("prove the judge", {"packs/care.yaml": desk.CARE_PACK + CALIBRATION})
    return made


@pytest.fixture
def mac(tmp_path: Path) -> FakeMac:
    return FakeMac(tmp_path / "mac")


def plain(tmp_path: Path) -> list[str]:
    """Options that leave this very machine's disk and Python out of it."""
    python = tmp_path / "service"
    python.mkdir(exist_ok=True)
    if not (python / "python3").exists():
        (python / "python3").write_text("#!/bin/sh\necho Python 3.13.1\n")
        (python / "python3").chmod(0o755)
    return ["--free-gb", "0", "--service-path", str(python)]


def doctor(repo: ScratchRepo, *args: str, env: Mapping[str, str] | None = None) -> Done:
    return touchstone(repo.path, "doctor", *plain(repo.path.parent), *args, env=env or {})


def found(done: Done, topic: str) -> list[dict[str, Any]]:
    return [finding for finding in done.json()["findings"] if finding["topic"] == topic]


def amiss(done: Done) -> list[tuple[str, str]]:
    return [(one["topic"], one["code"]) for one in done.json()["findings"] if one["state"] != "ok"]


def only(done: Done, topic: str, code: str) -> dict[str, Any]:
    """The one thing amiss, which must be this one."""
    assert amiss(done) == [(topic, code)], done.out + done.err
    (finding,) = [one for one in found(done, topic) if one["code"] == code]
    assert finding["remedy"]
    return finding


def test_a_sound_project_is_all_ok_and_names_every_host(repo: ScratchRepo, server: ChatServer) -> None:
    done = doctor(repo)
    assert done.code == ExitCode.NOTHING_WORSE, done.out
    lines = done.out.partition("\n\n")[0].splitlines()
    assert lines
    assert all(line.startswith("ok ") for line in lines), done.out
    assert f"engine          {server.base_url} answers" in done.out
    assert "scripted-judge scores the 2 calibration items of care as they are worth" in done.out
    assert f"  127.0.0.1:{server.port}  the models, in every run\n" in done.out
    assert f"  127.0.0.1:{server.port}  the judge, in every run\n" in done.out


def test_doctor_keeps_nothing_and_changes_nothing(repo: ScratchRepo) -> None:
    before = repo.snapshot()
    files = sorted(repo.path.rglob("*"))
    doctor(repo)
    assert repo.snapshot() == before
    assert sorted(repo.path.rglob("*")) == files


def test_json_holds_the_same(repo: ScratchRepo, server: ChatServer) -> None:
    done = doctor(repo, "--json")
    record = done.json()
    assert record["exit"] == 0
    assert {"topic", "state", "code", "text", "remedy", "facts"} == set(record["findings"][0])
    assert record["contacts"] == [
        {"host": f"127.0.0.1:{server.port}", "why": "models"},
        {"host": f"127.0.0.1:{server.port}", "why": "judge"},
    ]


def test_engine_down(repo: ScratchRepo) -> None:
    done = doctor(repo, "--base-url", "http://127.0.0.1:9/v1", "--json")
    assert done.code == ExitCode.REFUSED
    finding = only(done, "engine", "engine_down")
    assert "touchstone engine start" in finding["remedy"]
    assert "http://127.0.0.1:9/v1" in finding["text"]


def test_model_absent(repo: ScratchRepo) -> None:
    done = doctor(repo, "--model", "no-such-model", "--json")
    assert done.code == ExitCode.REFUSED
    finding = only(done, "model", "model_absent")
    assert "--model" in finding["remedy"]
    assert f"it has: {desk.MODEL}, {desk.JUDGE}" in finding["text"]


def test_judge_not_calibrated(repo: ScratchRepo) -> None:
    repo.commit("ask too much", {"packs/care.yaml": desk.CARE_PACK + CALIBRATION.replace("[1, 2]", "[3, 3]")})
    done = doctor(repo, "--json")
    assert done.code == ExitCode.REFUSED
    finding = only(done, "judge", "judge_unfit")
    assert "item bad: Q1 is 1, expected 3 to 3" in finding["text"]
    assert "--judge-model" in finding["remedy"]


def github(**granted: bool) -> ChatServer:
    told = {name: granted.get(name, False) for name in ("admin", "maintain", "push", "triage", "pull")}
    return ChatServer(routes={"/repos/acme/desk": whole({"permissions": told})})


def token(server: ChatServer, name: str = "GITHUB_TOKEN") -> dict[str, str]:
    return {name: TOKEN, "GITHUB_API_URL": server.url, "GITHUB_REPOSITORY": "acme/desk"}


def test_a_read_only_token(repo: ScratchRepo) -> None:
    with github(pull=True) as forge:
        done = doctor(repo, "--json", "--online", env=token(forge))
    assert done.code == ExitCode.NOTHING_WORSE, "a run and its verdict do not need it"
    finding = only(done, "token", "token_read_only")
    assert "write access to contents and pull requests" in finding["remedy"]
    assert TOKEN not in done.out + done.err
    assert {"host": f"127.0.0.1:{forge.port}", "why": "forge"} in done.json()["contacts"]


@pytest.mark.parametrize("name", ["GITHUB_TOKEN", "GH_TOKEN"])
def test_a_token_that_may_write_is_ok(repo: ScratchRepo, name: str) -> None:
    with github(pull=True, push=True) as forge:
        done = doctor(repo, "--json", "--online", env=token(forge, name))
    assert amiss(done) == []
    assert found(done, "token")[0]["text"].startswith(f"{name} may write to acme/desk")


def test_without_online_the_forge_is_not_contacted(repo: ScratchRepo) -> None:
    with github(pull=True) as forge:
        done = doctor(repo, "--json", env=token(forge))
        assert forge.requests == []
    assert amiss(done) == []
    assert found(done, "token")[0]["code"] == "token_unasked"


def test_the_repository_is_the_remotes_where_the_runner_names_none(repo: ScratchRepo) -> None:
    repo.git("remote", "add", "origin", "https://github.com/acme/desk.git")
    with github(pull=True) as forge:
        environ = {"GH_TOKEN": TOKEN, "GITHUB_API_URL": forge.url}
        done = doctor(repo, "--json", "--online", env=environ)
    assert amiss(done) == [("token", "token_read_only")]
    assert {"host": "github.com", "why": "git"} in done.json()["contacts"]


def test_a_rejected_token_is_a_fault(repo: ScratchRepo) -> None:
    refusal = whole({"message": "Bad credentials"}, 401)
    with ChatServer(routes={"/repos/acme/desk": refusal}) as forge:
        done = doctor(repo, "--json", "--online", env=token(forge))
    assert done.code == ExitCode.REFUSED
    assert "unset GITHUB_TOKEN" in only(done, "token", "token_rejected")["remedy"]


def test_sudo_denied(repo: ScratchRepo, mac: FakeMac) -> None:
    mac.deny_sudo()
    done = doctor(repo, "--json", env={"PATH": mac.path()})
    assert done.code == ExitCode.NOTHING_WORSE
    assert "/etc/sudoers.d/touchstone" in only(done, "sudo", "sudo_denied")["remedy"]


def test_a_mac_with_sudo_is_all_ok(repo: ScratchRepo, mac: FakeMac) -> None:
    done = doctor(repo, "--json", env={"PATH": mac.path()})
    assert amiss(done) == []
    assert "thermal level: nominal" in found(done, "sudo")[0]["text"]


def test_a_mac_that_is_hot_short_of_memory_and_unplugged(repo: ScratchRepo, mac: FakeMac) -> None:
    mac.heat("Heavy")
    mac.press(4)
    mac.unplug()
    done = doctor(repo, "--json", env={"PATH": mac.path()})
    assert amiss(done) == [
        ("machine", "on_battery"), ("machine", "throttled"), ("machine", "under_pressure"),
    ]  # fmt: skip


def test_disk_full(repo: ScratchRepo) -> None:
    done = touchstone(repo.path, "doctor", *plain(repo.path.parent), "--free-gb", "1e9", "--json")
    assert done.code == ExitCode.REFUSED
    finding = only(done, "disk", "disk_full")
    assert "keep_runs" in finding["remedy"]
    assert "1000000000.0 GB are due" in finding["text"]


def test_lock_held(repo: ScratchRepo, server: ChatServer) -> None:
    with engine_lock(server.base_url, wait_s=0, say=print):
        done = doctor(repo, "--json")
    assert done.code == ExitCode.REFUSED
    assert amiss(done) == [("lock", "lock_held"), ("judge", "judge_busy")]
    assert "--wait" in found(done, "lock")[0]["remedy"]
    assert server.chats == [], "a run is going on there: its times are not to be spoiled"


def test_old_python_on_the_service_path(repo: ScratchRepo) -> None:
    options = plain(repo.path.parent)
    (Path(options[-1]) / "python3").write_text("#!/bin/sh\necho Python 3.9.6\n")
    done = doctor(repo, "--json")
    assert done.code == ExitCode.NOTHING_WORSE
    finding = only(done, "service python", "service_python_old")
    assert "3.9; 3.11 or newer is due" in finding["text"]
    assert "input `python`" in finding["remedy"]


def test_ctrl_c_while_the_judge_is_asked_ends_it(repo: ScratchRepo, server: ChatServer) -> None:
    server.service_s = 60
    asking = start(repo.path, ["doctor", *plain(repo.path.parent)])
    until = time.monotonic() + 30
    while not server.chats and time.monotonic() < until:
        time.sleep(0.02)
    asking.send_signal(signal.SIGINT)
    out, err = asking.communicate(timeout=30)
    assert asking.returncode == ExitCode.INTERRUPTED
    assert out == ""
    assert "stopped before everything was looked at" in err
    assert "Traceback" not in err


def test_the_load_is_the_engines_own_word(repo: ScratchRepo, server: ChatServer) -> None:
    server.routes["/slots"] = whole([{"is_processing": True}, {"is_processing": True}])
    done = doctor(repo, "--json")
    assert "answering somebody else (2 requests)" in only(done, "load", "load_requests")["text"]


def test_a_missing_key_names_its_variable(repo: ScratchRepo) -> None:
    done = doctor(repo, "--api-key-env", "STUDIO_KEY", "--json")
    assert done.code == ExitCode.REFUSED
    finding = only(done, "engine", "said")
    assert "STUDIO_KEY is not set" in finding["text"]
    assert "export STUDIO_KEY" in finding["remedy"]


def test_no_judge_for_a_pack_that_needs_one(repo: ScratchRepo) -> None:
    settings = (repo.path / "touchstone.yaml").read_text().replace(f"judge: {{model: {desk.JUDGE}}}\n", "")
    repo.commit("no judge", {"touchstone.yaml": settings})
    finding = only(doctor(repo, "--json"), "judge", "judge_unnamed")
    assert finding["text"].endswith("need one: care")


def test_a_broken_pack_points_to_validate(repo: ScratchRepo) -> None:
    repo.commit("break", {"packs/desk.yaml": desk.DESK_PACK.replace("id: A2,", "id: A1,")})
    done = doctor(repo, "--json")
    assert done.code == ExitCode.REFUSED
    assert only(done, "packs", "pack_bad")["remedy"].endswith("touchstone validate")


@pytest.mark.parametrize(
    ("change", "code"),
    [("touch", "git_dirty"), ("untracked", "git_dirty"), ("none", "git_none"), ("empty", "git_empty")],
)
def test_git_says_what_stands_in_the_way_of_a_promotion(repo: ScratchRepo, change: str, code: str) -> None:
    if change == "touch":
        repo.write("prompts/house.md", "Another.\n")
    elif change == "untracked":
        repo.write("packs/more.yaml", desk.DESK_PACK.replace("id: desk", "id: more"))
    else:
        shutil.rmtree(repo.path / ".git")
    if change == "empty":
        repo.git("init", "-q")
    done = doctor(repo, "--json")
    assert done.code == ExitCode.NOTHING_WORSE
    finding = only(done, "git", code)
    assert "git" in finding["remedy"]
    assert ("promoted" in finding["text"]) is (change in {"none", "empty"})


def on_a_usual_port() -> ChatServer:
    for port in reversed(USUAL_PORTS):
        with contextlib.suppress(OSError):
            return ChatServer(models=("first-model", "second-model"), port=port)
    pytest.skip("every usual port is taken")


def test_without_settings_the_usual_ports_are_looked_at_and_what_answers_is_named(tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    with on_a_usual_port() as server:
        done = touchstone(tmp_path / "bare", "doctor", *plain(tmp_path), "--json")
    (finding,) = [one for one in found(done, "engine") if one["facts"]["url"] == server.base_url]
    assert finding["code"] == "engine_unnamed"
    assert "models: first-model, second-model" in finding["text"]
    assert f"touchstone measure --base-url {server.base_url} --model first-model" in finding["remedy"]
    assert server.chats == []
    assert done.json()["contacts"] == []


def test_a_server_elsewhere_needs_permission_on_a_mac(repo: ScratchRepo, mac: FakeMac) -> None:
    elsewhere = ("--base-url", "http://studio.invalid:1234/v1")
    done = doctor(repo, *elsewhere, "--json", env={"PATH": mac.path()})
    assert amiss(done) == [("engine", "engine_down"), ("local network", "local_network")]
    finding = found(done, "local network")[0]
    assert "studio.invalid:1234 is not this machine" in finding["text"]
    assert "Privacy & Security > Local Network" in finding["remedy"]
    assert amiss(doctor(repo, *elsewhere, "--json")) == [("engine", "engine_down")]


def test_a_proxy_is_among_the_hosts_without_its_password(repo: ScratchRepo) -> None:
    settings = (repo.path / "touchstone.yaml").read_text()
    settings = settings.replace("retries: 0}", "retries: 0, trust_env: true}")
    repo.commit("proxy", {"touchstone.yaml": settings})
    proxy = {"http_proxy": "http://ada:hidden@127.0.0.1:9"}
    done = doctor(repo, "--base-url", "http://studio.invalid:1234/v1", "--json", env=proxy)
    assert done.json()["contacts"] == [
        {"host": "studio.invalid:1234", "why": "models"},
        {"host": "studio.invalid:1234", "why": "judge"},
        {"host": "127.0.0.1:9", "why": "proxy"},
    ]
    assert "hidden" not in done.out + done.err


@pytest.mark.engine
def test_the_embedded_engine_with_the_starter_pack_is_all_ok(tmp_path: Path) -> None:
    cache = cache_with_model(tmp_path / "cache")
    running = engine.start(cache, print)
    try:
        folder = tmp_path / "starter"
        write_scaffold(folder, running.base_url, running.model)
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "start"]):
            subprocess.run(["git", *words], cwd=folder, env=git_env(tmp_path), check=True)
        done = touchstone(folder, "doctor")
        assert done.code == ExitCode.NOTHING_WORSE, done.out
        lines = done.out.partition("\n\n")[0].splitlines()
        assert [line for line in lines if not line.startswith("ok ")] == []
        assert f"{running.model} is there" in done.out
        assert f"{running.base_url} is idle" in done.out
        assert "not needed: every pack is scored by checks" in done.out
        other = touchstone(folder, "doctor", "--model", "other", "--json")
        assert amiss(other) == [("model", "model_any_name")]
    finally:
        engine.stop(cache)


def git_env(home: Path) -> dict[str, str]:
    names = {"AUTHOR": "Ada", "COMMITTER": "Ada"}
    people = {f"GIT_{role}_NAME": name for role, name in names.items()}
    people |= {f"GIT_{role}_EMAIL": "ada@example.invalid" for role in names}
    return {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"} | people


def test_this_python_is_told(repo: ScratchRepo) -> None:
    assert found(doctor(repo, "--json"), "python")[0]["text"] == sys.version.split()[0]
