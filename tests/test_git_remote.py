"""git and its remotes: what is asked, what is pushed, and where a token goes."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.kit.scratch import ScratchRepo, clone, isolate, scratch_repo
from touchstone.errors import RefusedError
from touchstone.git import Committed, Credential, RemoteHeads, Repository

TOKEN = "dummy-token-8f1c-not-a-secret"
SENT = "basic " + base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()


class Host(ThreadingHTTPServer):
    """A git host that lets nobody in, and notes who knocked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Porter)
        self.knocked: list[list[str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"


class _Porter(BaseHTTPRequestHandler):
    server: Host

    def do_GET(self) -> None:
        self.server.knocked.append(self.headers.get_all("Authorization") or [])
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Say nothing."""


@pytest.fixture
def host() -> Iterator[Host]:
    with Host() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def upstream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScratchRepo:
    isolate(monkeypatch, tmp_path / "home")
    repo = scratch_repo(tmp_path / "upstream", branch="trunk")
    repo.commit("first", {"a": "1\n"})
    return repo


@pytest.fixture
def work(upstream: ScratchRepo, tmp_path: Path) -> ScratchRepo:
    return clone(upstream, tmp_path / "work")


def opened(repo: ScratchRepo) -> Repository:
    found = Repository.open(repo.path)
    assert found is not None
    return found


def test_G22_the_remote_tells_its_default_branch_and_the_tips_asked_for(
    upstream: ScratchRepo, work: ScratchRepo
) -> None:
    upstream.git("branch", "ours/one")
    upstream.git("branch", "other")
    assert opened(work).remote_heads("ours/*") == RemoteHeads(
        "origin", "trunk", {"trunk": upstream.head(), "ours/one": upstream.head()}
    )


def test_a_remote_on_no_branch_names_no_default(upstream: ScratchRepo, work: ScratchRepo) -> None:
    upstream.git("checkout", "-q", "--detach")
    assert opened(work).remote_heads("trunk") == RemoteHeads("origin", None, {"trunk": upstream.head()})


def test_no_remote_and_several_without_origin_are_refused(work: ScratchRepo) -> None:
    work.git("remote", "rename", "origin", "one")
    work.git("remote", "add", "two", "file:///nowhere")
    with pytest.raises(RefusedError, match="no remote to push to"):
        opened(work).remote_heads()


def test_a_push_over_another_tip_than_was_looked_at_is_refused(
    upstream: ScratchRepo, work: ScratchRepo
) -> None:
    upstream.git("branch", "ours")
    repository = opened(work)
    seen = repository.remote_heads("ours")
    mine = work.commit("mine", {"b": "2\n"})
    upstream.git("switch", "-q", "ours")
    theirs = upstream.commit("theirs", {"c": "3\n"})
    upstream.git("switch", "-q", "trunk")
    with pytest.raises(RefusedError, match="stale info"):
        repository.push(Committed(mine, "ours", None), seen)
    assert upstream.git("rev-parse", "ours").strip() == theirs
    repository.push(Committed(mine, "ours", None), repository.remote_heads("ours"))
    assert upstream.git("rev-parse", "ours").strip() == mine


def test_a_new_branch_is_not_pushed_over_one_that_came_meanwhile(
    upstream: ScratchRepo, work: ScratchRepo
) -> None:
    repository = opened(work)
    seen = repository.remote_heads("ours")
    upstream.git("branch", "ours")
    mine = work.commit("mine", {"b": "2\n"})
    with pytest.raises(RefusedError):
        repository.push(Committed(mine, "ours", None), seen)
    assert upstream.git("rev-parse", "ours").strip() == upstream.head()


def test_a_token_is_tried_first_and_in_place_of_what_a_checkout_left(work: ScratchRepo, host: Host) -> None:
    work.git("remote", "set-url", "origin", f"{host.url}acme/desk.git")
    work.git("config", f"http.{host.url}.extraheader", "AUTHORIZATION: basic bGVmdA==")
    with pytest.raises(RefusedError) as raised:
        opened(work).remote_heads(credential=Credential(host.url, TOKEN))
    assert host.knocked == [[SENT], ["basic bGVmdA=="]], "then as the person's own git would"
    assert TOKEN not in raised.value.message
    assert SENT not in raised.value.message


def test_a_token_is_sent_to_no_other_host(work: ScratchRepo, host: Host) -> None:
    work.git("remote", "set-url", "origin", f"{host.url}acme/desk.git")
    with pytest.raises(RefusedError):
        opened(work).remote_heads(credential=Credential("https://github.com/", TOKEN))
    assert [given for given in host.knocked if given] == []


def test_a_token_stands_in_no_argument_and_no_file(
    upstream: ScratchRepo, work: ScratchRepo, tmp_path: Path
) -> None:
    seen = tmp_path / "arguments"
    work.hook("pre-push", f"cat /proc/$PPID/cmdline > {seen} 2>&- || ps -o args= -p $PPID > {seen}")
    mine = work.commit("mine", {"b": "2\n"})
    repository = opened(work)
    repository.push(
        Committed(mine, "ours", None),
        repository.remote_heads("ours"),
        credential=Credential("https://x.example/", TOKEN),
    )
    arguments = seen.read_text()
    assert "push" in arguments
    assert TOKEN not in arguments
    assert SENT.split()[1] not in arguments
    kept = b"".join(path.read_bytes() for path in (work.path / ".git").rglob("*") if path.is_file())
    assert TOKEN.encode() not in kept
    assert SENT.split()[1].encode() not in kept


def test_settings_that_came_by_environment_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = Credential("https://x.example/", TOKEN).variables({"GIT_CONFIG_COUNT": "2"})
    assert variables["GIT_CONFIG_COUNT"] == "4"
    assert variables["GIT_CONFIG_VALUE_2"] == ""
    assert variables["GIT_CONFIG_VALUE_3"] == f"AUTHORIZATION: {SENT}"
    assert set(variables) == {
        "GIT_CONFIG_COUNT",
        *(f"GIT_CONFIG_{part}_{n}" for part in ("KEY", "VALUE") for n in (2, 3)),
    }


def test_a_persons_way_to_the_host_is_kept(
    work: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "my-ssh"
    script.write_text(
        f'#!/bin/sh\necho "$1" > {tmp_path}/asked; echo "Permission denied (publickey)." >&2; exit 255\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(script))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "of-a-hook"))
    work.git("remote", "set-url", "origin", "ssh://git@host.example/acme/desk.git")
    with pytest.raises(RefusedError, match="Permission denied"):
        opened(work).remote_heads()
    assert (tmp_path / "asked").exists()


def test_a_password_in_an_address_is_not_repeated(work: ScratchRepo) -> None:
    work.git("remote", "set-url", "origin", "http://ada:secret@127.0.0.1:9/desk.git")
    with pytest.raises(RefusedError) as raised:
        opened(work).remote_heads()
    assert "127.0.0.1" in raised.value.message
    assert "secret" not in raised.value.message
