"""What a token may do, asked of a GitHub on this machine."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit.chat_server import ChatServer, Script, whole
from touchstone.forge.github import repository_of, token_rights

REPOSITORY = "acme/desk"


def permissions(**granted: bool) -> Script:
    names = ("admin", "maintain", "push", "triage", "pull")
    told = {name: granted.get(name, False) for name in names}
    return whole({"full_name": REPOSITORY, "private": True, "permissions": told})


@pytest.mark.parametrize(
    ("answer", "rights"),
    [
        (permissions(pull=True, triage=True, push=True), "write"),
        (permissions(pull=True, triage=True), "read_only"),
        (permissions(), "not_told"),
        (whole({"full_name": REPOSITORY}), "not_told"),
        (whole([1]), "not_told"),
        (whole({"message": "Bad credentials"}, 401), "rejected"),
        (whole({"message": "Resource not accessible by integration"}, 403), "no_access"),
        (whole({"message": "Not Found"}, 404), "no_access"),
        (whole({"message": "Server Error"}, 502), "unreachable"),
        (Script([b"<html>"], framing="length"), "unreachable"),
        (Script(status=0), "unreachable"),
    ],
)
def test_each_answer_is_one_word(answer: Script, rights: str) -> None:
    with ChatServer(routes={f"/repos/{REPOSITORY}": answer}) as github:
        assert token_rights(github.url, REPOSITORY, "dummy-token-8f1c") == rights
    (asked,) = github.requests
    assert asked.method == "GET"
    assert asked.headers["Authorization"] == "Bearer dummy-token-8f1c"


def test_a_token_does_not_follow_a_redirect() -> None:
    with ChatServer() as elsewhere:
        moved = whole({}, 301, headers=(("Location", f"{elsewhere.url}/repos/acme/new"),))
        with ChatServer(routes={f"/repos/{REPOSITORY}": moved}) as github:
            assert token_rights(github.url, REPOSITORY, "dummy-token-8f1c") == "not_told"
        assert elsewhere.requests == []


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "ftp://x", "http://[", "nonsense"])
def test_no_github_is_unreachable(url: str) -> None:
    assert token_rights(url, REPOSITORY, "dummy-token-8f1c") == "unreachable"


@pytest.mark.parametrize("token", ["dümmy", "two\nlines"])
def test_a_token_no_header_can_carry_is_no_exception(token: str) -> None:
    with ChatServer(routes={f"/repos/{REPOSITORY}": permissions(pull=True)}) as github:
        assert token_rights(github.url, REPOSITORY, token) == "unreachable"


@pytest.mark.parametrize(
    ("remote", "repository"),
    [
        ("https://github.com/acme/desk.git", ("github.com", "acme/desk")),
        ("https://github.com/acme/desk", ("github.com", "acme/desk")),
        ("https://x-access-token:secret@GitHub.com/acme/desk.git", ("github.com", "acme/desk")),
        ("git@github.com:acme/desk.git", ("github.com", "acme/desk")),
        ("ssh://git@github.example:2222/acme/desk.git", ("github.example", "acme/desk")),
        ("/srv/git/desk.git", None),
        ("../desk", None),
        ("https://gitlab.example/group/sub/desk.git", None),
        ("", None),
    ],
)
def test_the_repository_is_read_from_a_remotes_address(remote: str, repository: Any) -> None:
    assert repository_of(remote) == repository
