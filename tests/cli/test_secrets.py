"""A whole project's life with marked secrets, on servers that echo them everywhere: then they are nowhere.

Looked at is everything that was written (runs, baselines, git's objects, caches, temporary folders) and
everything that was said, in every spelling a program might give a secret.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer, Script, answer, chunk, event, whole
from tests.kit.cli import Done, touchstone
from tests.kit.scratch import ScratchRepo

KEY = "marked-Key/of+the=endpoint"
JUDGE_KEY = "marked-Key/of+the=judge"
TOKEN = "marked-Token/of+the=forge"
SECRETS = {"DESK_KEY": KEY, "JUDGE_KEY": JUDGE_KEY, "GITHUB_TOKEN": TOKEN}


class Echo(desk.Mind):
    """Repeats the key it was asked with wherever a server can say something."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key

    def __call__(self, body: dict[str, Any]) -> Script:
        """One chat request answered."""
        asked = body["messages"][-1]["content"]
        if asked == "four?":
            return Script([event({"error": {"message": f"no right for {self.key}", "code": self.key}})])
        if asked == "five?":
            return whole({"error": {"message": f"Bearer {self.key} is not known", "type": self.key}}, 401)
        if body["model"] == desk.JUDGE:
            verdict = {"rationale": f"as {self.key} said", "scores": {"Q1": 4, "Q2": 5}, "red_flag": False}
            return self._with_key(answer(json.dumps(verdict), model=desk.JUDGE), "")
        return self._with_key(super().__call__(body), f" by {self.key}")

    def _with_key(self, said: Script, more: str) -> Script:
        extra = {"system_fingerprint": f"fp-{self.key}", "service_tier": self.key}
        chunks = [
            event(chunk({"content": more, "reasoning_content": self.key}, **extra)),
            event(chunk({}, f"stop {self.key}", model=f"m-{self.key}", **extra)),
        ]
        headers = (*said.headers, ("X-Echo", self.key), ("Server", f"desk/{self.key}"))
        return Script([*said.chunks[:-3], *chunks, *said.chunks[-2:]], headers=headers)


def server_of(key: str) -> ChatServer:
    """A server that tells its key in its list of models and to every question of a probe."""
    pages = {
        "/props": {"build_info": f"b1-{key}", "model_path": f"/models/{key}/{desk.MODEL}-{key}.gguf"},
        "/version": {"version": f"1.0+{key}"},
        "/api/version": {"version": f"0.5+{key}"},
        "/health": {"status": key},
        "/slots": [{"is_processing": False, "prompt": key}],
        "/metrics": {"text": key},
    }
    routes = {path: whole(body, headers=(("Server", key),)) for path, body in pages.items()}
    return ChatServer(Echo(key), models=(desk.MODEL, desk.JUDGE, f"another-{key}"), routes=routes)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with server_of(KEY) as running:
        yield running


@pytest.fixture
def judge() -> Iterator[ChatServer]:
    with server_of(JUDGE_KEY) as running:
        yield running


@pytest.fixture
def repo(tmp_path: Path, server: ChatServer, judge: ChatServer) -> ScratchRepo:
    made = desk.project(tmp_path / "project", server.base_url)
    settings = made.path / "touchstone.yaml"
    endpoint = f"base_url: '{server.base_url}', retries: 0"
    of_judge = f"endpoint: {{base_url: '{judge.base_url}', retries: 0, api_key_env: JUDGE_KEY}}"
    settings.write_text(
        settings.read_text()
        .replace(endpoint, f"{endpoint}, api_key_env: DESK_KEY")
        .replace(f"judge: {{model: {desk.JUDGE}", f"judge: {{model: {desk.JUDGE}, {of_judge}")
    )
    made.commit("keys by name")
    return made


def spellings(secret: str) -> set[bytes]:
    """The secret as text, in JSON, in a URL, and in base64 at any of three offsets."""
    found = {
        secret,
        quote(secret),
        quote(secret, safe=""),
        json.dumps(secret)[1:-1],
        secret.replace("/", "\\/"),
    }
    for before in ("", "x", "xx"):
        whole_groups = base64.b64encode((before + secret).encode()).decode()
        found.add(whole_groups[4 if before else 0 : -4])
    return {spelling.encode() for spelling in found} | {secret.encode("utf-16-le"), secret.encode()[::-1]}


def leaks(folder: Path, said: list[Done]) -> list[str]:
    """Every place where a secret can be read."""
    texts = {
        f"stream of command {number}": (done.out + done.err).encode() for number, done in enumerate(said)
    }
    for path in folder.rglob("*"):
        texts[f"the name {path}"] = str(path.relative_to(folder)).encode()
        if path.is_file():
            data = path.read_bytes()
            texts[str(path)] = zlib.decompress(data) if _is_git_object(path) else data
    return [
        f"{where} holds {name}"
        for name, secret in SECRETS.items()
        for spelling in spellings(secret)
        for where, text in texts.items()
        if spelling in text
    ]


def _is_git_object(path: Path) -> bool:
    return path.parent.parent.name == "objects" and len(path.name) >= 38


def test_the_search_finds_what_it_is_meant_to_find(tmp_path: Path) -> None:
    spelt = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
    (tmp_path / "a").write_text(f"AUTHORIZATION: basic {spelt}")
    (tmp_path / "b").write_text(json.dumps({"key": KEY}))
    assert {leak.rpartition(" ")[2] for leak in leaks(tmp_path, [])} == {"GITHUB_TOKEN", "DESK_KEY"}
    assert leaks(tmp_path / "none", [Done(0, "", quote(JUDGE_KEY, safe=""))]) != []


def test_a_marked_key_is_in_no_file_log_or_message(
    repo: ScratchRepo, server: ChatServer, judge: ChatServer
) -> None:
    scratch = repo.path.parent / "tmp"
    scratch.mkdir()
    env = {**SECRETS, "TMPDIR": str(scratch)}
    said: list[Done] = []

    def run(*args: str) -> Done:
        said.append(touchstone(repo.path, *args, env=env))
        assert "Traceback" not in said[-1].err, said[-1].err
        return said[-1]

    run("doctor")
    run("doctor", "--json")
    assert run("config", "--json").code == 0
    for _ in range(3):
        assert run("measure", "--pack", "care").code == 0
    run("measure", "--pack", "desk")
    runs = desk.run_ids(repo)
    care = [name for name in runs if "_care_" in name]
    run("select", *care)
    assert run("promote", *care, "--here", "--reason", "the first").code == 0
    run("check", "--pack", "care")
    run("rejudge", care[0])
    latest = desk.run_ids(repo)[-1]
    for form in ("md", "scorecard", "html", "junit", "csv", "json"):
        run("report", latest, "--format", form)
    run("compare", care[0], latest)
    run("show", latest, "C1")
    run("history")
    run("list")
    server.close()
    assert run("measure", "--pack", "care").code == 2
    assert run("doctor").code == 4
    for host, key in ((server, KEY), (judge, JUDGE_KEY)):
        assert {asked.headers.get("Authorization") for asked in host.requests} == {f"Bearer {key}"}
    assert "[key removed]" in (repo.path / "runs" / care[0] / "responses.jsonl").read_text()
    assert leaks(repo.path.parent, said) == []


def test_a_key_that_no_header_can_carry_is_not_shown(repo: ScratchRepo) -> None:
    for bad in ("marked\r\nX-Injected: 1", "marked\x00key", "märked"):
        env = {**SECRETS, "DESK_KEY": bad.replace("\x00", "\x01")}
        done = touchstone(repo.path, "measure", "--pack", "desk", env=env)
        assert done.code == 4
        assert "DESK_KEY" in done.err
        assert "marked" not in done.err
        assert "märked" not in done.err
