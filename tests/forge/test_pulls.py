"""The promotion's pull request at a GitHub on this machine: opened once, then kept up to date."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.kit.fake_github import FORBIDDEN_BY_SETTING, NOT_FOUND, READ_ONLY, TOKEN, FakeGitHub
from touchstone.forge import ForgeError, Place, WantedPull
from touchstone.forge.github import PULL_MARK, GitHub, place_of

BRANCH = "touchstone/promote/default-desk"


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as running:
        running.branches |= {BRANCH, "edit"}
        yield running


@pytest.fixture
def forge(github: FakeGitHub) -> GitHub:
    return GitHub(github.place, TOKEN, sleep=lambda _seconds: None)


def wanted(**others: Any) -> WantedPull:
    usual = {"head": BRANCH, "base": "main", "title": "baseline: promote desk", "body": "80 % → 90 %"}
    return WantedPull(**(usual | others))


def test_C14_a_pull_request_is_opened_with_its_text_in_the_body_of_a_request(
    github: FakeGitHub, forge: GitHub
) -> None:
    opened = forge.open_or_update_pull(wanted(body="`$(x)` \"quoted\"\nand 'more'", draft=True))
    pull = github.pulls[1]
    assert (opened.outcome, opened.number, opened.url) == ("created", 1, pull["html_url"])
    assert (pull["head"]["ref"], pull["base"]["ref"], pull["draft"]) == (BRANCH, "main", True)
    assert pull["body"] == f"{PULL_MARK}\n`$(x)` \"quoted\"\nand 'more'"


def test_C13_run_again_it_is_brought_up_to_date(github: FakeGitHub, forge: GitHub) -> None:
    first = forge.open_or_update_pull(wanted())
    second = forge.open_or_update_pull(wanted(title="again", body="80 % → 95 %", base="edit"))
    assert (second.outcome, second.number) == ("updated", first.number)
    (pull,) = github.pulls.values()
    assert (pull["title"], pull["base"]["ref"]) == ("again", "edit")
    assert pull["body"].endswith("95 %")


def test_a_closed_one_is_left_closed(github: FakeGitHub, forge: GitHub) -> None:
    forge.open_or_update_pull(wanted())
    github.pulls[1]["state"] = "closed"
    assert forge.open_or_update_pull(wanted()).number == 2


def test_a_text_somebody_wrote_stays(github: FakeGitHub, forge: GitHub) -> None:
    github.pull(3, head=BRANCH, body="My own words, opened by hand.")
    opened = forge.open_or_update_pull(wanted())
    assert (opened.outcome, opened.number) == ("text_kept", 3)
    assert github.pulls[3]["body"] == "My own words, opened by hand."


def test_another_repositorys_branch_of_that_name_is_not_ours(github: FakeGitHub, forge: GitHub) -> None:
    github.pull(3, head=BRANCH)
    github.pulls[3]["head"]["repo"]["full_name"] = "mallory/desk"
    github.pulls[3]["state"] = "open"
    github.pulls[3]["head"]["ref"] = BRANCH
    with pytest.raises(ForgeError, match="already exists"):
        forge.open_or_update_pull(wanted())
    assert github.pulls[3]["body"] is None


@pytest.mark.parametrize("status", [502, 0])
def test_C13_after_trouble_it_is_listed_again_before_creating(
    github: FakeGitHub, forge: GitHub, status: int
) -> None:
    github.fail("POST", "/pulls", status, after_the_deed=True)
    assert forge.open_or_update_pull(wanted()).number == 1
    assert len(github.pulls) == 1


def test_one_opened_meanwhile_is_brought_up_to_date(github: FakeGitHub, forge: GitHub) -> None:
    github.fail("GET", "/pulls", 200, [])  # a list from before it was opened
    github.pull(3, head=BRANCH)
    assert forge.open_or_update_pull(wanted()).number == 3
    assert github.pulls[3]["title"] == "baseline: promote desk"


@pytest.mark.parametrize(
    ("status", "body", "fault", "way_out"),
    [
        (403, READ_ONLY, "read_only", "pull-requests: write"),
        (403, FORBIDDEN_BY_SETTING, "not_permitted", "allow GitHub Actions to create and approve"),
        (404, NOT_FOUND, "not_found", "the token may see them"),
        (401, {"message": "Bad credentials"}, "rejected", "GITHUB_TOKEN or GH_TOKEN"),
        (301, {"message": "Moved Permanently"}, "moved", "git remote set-url"),
    ],
)
def test_C16_a_refusal_is_of_its_own_kind_with_the_way_out(
    github: FakeGitHub, forge: GitHub, status: int, body: dict[str, Any], fault: str, way_out: str
) -> None:
    github.fail(
        "POST", "/pulls", status, body, headers={"Location": "http://127.0.0.1:9/"} if status == 301 else {}
    )
    with pytest.raises(ForgeError) as raised:
        forge.open_or_update_pull(wanted())
    assert raised.value.fault == fault
    assert str(body["message"]) in raised.value.message
    assert way_out in (raised.value.hint or "")


def test_the_compare_link_names_both_branches(forge: GitHub) -> None:
    link = forge.compare_link("release/1.x", BRANCH)
    assert link == f"https://github.com/acme/desk/compare/release/1.x...{BRANCH}?expand=1"
    assert forge.compare_link("a b", "c#d").endswith("/compare/a%20b...c%23d?expand=1")


GHES = {"GITHUB_SERVER_URL": "https://ghes.example", "GITHUB_API_URL": "https://ghes.example/api/v3"}


@pytest.mark.parametrize(
    ("remote", "environ", "place"),
    [
        ("git@github.com:acme/desk.git", {}, ("https://github.com", "https://api.github.com", "acme/desk")),
        ("https://github.com/acme/desk", {}, ("https://github.com", "https://api.github.com", "acme/desk")),
        (
            "https://github.com/acme/desk",
            {"GITHUB_API_URL": "http://127.0.0.1:8951"},
            ("https://github.com", "http://127.0.0.1:8951", "acme/desk"),
        ),
        (
            "ssh://git@ghes.example:2222/acme/desk.git",
            GHES,
            ("https://ghes.example", "https://ghes.example/api/v3", "acme/desk"),
        ),
        (
            "https://ghes.example/acme/desk",
            {"GITHUB_SERVER_URL": "https://ghes.example"},
            ("https://ghes.example", "https://ghes.example/api/v3", "acme/desk"),
        ),
        (
            "https://ghes.example/acme/desk",
            {"GITHUB_API_URL": "https://ghes.example/api/v3"},
            ("https://ghes.example", "https://ghes.example/api/v3", "acme/desk"),
        ),
        ("https://github.com/acme/desk", GHES, ("https://github.com", "https://api.github.com", "acme/desk")),
        (
            "/srv/git/desk.git",
            GHES | {"GITHUB_REPOSITORY": "acme/desk"},
            ("https://ghes.example", "https://ghes.example/api/v3", "acme/desk"),
        ),
        ("https://gitlab.example/acme/desk", {}, None),
        ("https://gitlab.example/acme/desk", GHES | {"GITHUB_REPOSITORY": "acme/desk"}, None),
        ("/srv/git/desk.git", {}, None),
        ("/srv/git/desk.git", {"GITHUB_REPOSITORY": "acme/desk/../../x"}, None),
        (None, {}, None),
    ],
)
def test_C10_a_token_is_for_the_hosts_it_was_made_for(
    remote: str | None, environ: dict[str, str], place: tuple[str, str, str] | None
) -> None:
    assert place_of(remote, environ) == (Place(*place) if place else None)
