"""The one comment at a GitHub on this machine: each rule of its upsert, and each no a forge may say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.fake_github import JOB_LOGIN, NOT_FOUND, READ_ONLY, SECONDARY, TOKEN, FakeGitHub
from touchstone.forge import FORGES, CommentMark, ForgeError, Place
from touchstone.forge.github import GitHub

CASES = Path(__file__).parents[1] / "cases" / "public" / "github"
NEW, OLD = "3" * 40, "1" * 40


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as running:
        running.pull(7)
        yield running


class Sleeps(list[float]):
    """Instead of waiting, what would have been waited."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def sleeps() -> Sleeps:
    return Sleeps()


@pytest.fixture
def forge(github: FakeGitHub, sleeps: Sleeps) -> GitHub:
    return GitHub(github.place, TOKEN, sleep=sleeps)


def mark(run_id: int = 500, attempt: int = 1, **others: Any) -> CommentMark:
    usual: dict[str, Any] = {"tenant": "default", "target": None, "name": None, "head_sha": NEW}
    return CommentMark(run_id=run_id, attempt=attempt, **(usual | others))


def recorded(name: str) -> dict[str, Any]:
    """A case's answer as arguments of `fail`."""
    case = json.loads((CASES / name).read_text())
    return {"status": case["status"], "body": case["body"], "headers": case["headers"]}


# --- one comment, edited in place --------------------------------------------------------------------


def test_the_first_comment_begins_with_the_hidden_line(github: FakeGitHub, forge: GitHub) -> None:
    posted = forge.upsert_comment(7, mark(), "All is well.")
    assert posted.outcome == "created"
    assert posted.url == github.comments[7][0]["html_url"]
    line, text = github.bodies(7)[0].split("\n", 1)
    assert re.fullmatch(r"<!-- .* -->", line)
    assert text == "All is well."


def test_C13_a_second_push_edits_the_same_comment(github: FakeGitHub, forge: GitHub) -> None:
    first = forge.upsert_comment(7, mark(), "worse")
    second = forge.upsert_comment(7, mark(501, head_sha=OLD), "all green")
    assert (second.outcome, second.url) == ("updated", first.url)
    assert github.bodies(7) == [f"{mark(501, head_sha=OLD).line}\nall green"]


def test_another_tenant_target_or_name_has_a_comment_of_its_own(github: FakeGitHub, forge: GitHub) -> None:
    keys: list[dict[str, Any]] = [
        {},
        {"tenant": "other"},
        {"target": "mac"},
        {"name": "nightly"},
        {"name": "--> <b>"},
    ]
    for others in keys:
        assert forge.upsert_comment(7, mark(**others), "x").outcome == "created"
    assert forge.upsert_comment(7, mark(target="mac"), "y").outcome == "updated"
    assert len(github.bodies(7)) == len(keys)
    assert all(body.index("-->") == len(body.split("\n")[0]) - 3 for body in github.bodies(7))


def test_a_re_run_is_newer_by_its_attempt(github: FakeGitHub, forge: GitHub) -> None:
    forge.upsert_comment(7, mark(500, 2), "second attempt")
    assert forge.upsert_comment(7, mark(500, 3), "third").outcome == "updated"
    assert forge.upsert_comment(7, mark(500, 3), "third again").outcome == "updated"
    assert forge.upsert_comment(7, mark(500, 1), "first, late").outcome == "newer_kept"
    assert github.bodies(7)[0].endswith("third again")


def test_a_newer_commits_comment_is_not_replaced_by_an_older_run(github: FakeGitHub, forge: GitHub) -> None:
    newer = forge.upsert_comment(7, mark(900, head_sha=NEW), "of the newer commit")
    late = forge.upsert_comment(7, mark(500, 2, head_sha=OLD), "an old run, run again")
    assert (late.outcome, late.url) == ("newer_kept", newer.url)
    assert github.bodies(7) == [f"{mark(900).line}\nof the newer commit"]


def test_older_duplicates_are_removed(github: FakeGitHub, forge: GitHub) -> None:
    for run_id in (499, 501, 500):
        github.comment(7, f"{mark(run_id).line}\nrun {run_id}")
    github.comment(7, "somebody's own words", login="ada", kind="User")
    assert forge.upsert_comment(7, mark(502), "run 502").outcome == "updated"
    assert github.bodies(7) == [f"{mark(502).line}\nrun 502", "somebody's own words"]


def test_a_duplicate_that_cannot_be_removed_does_no_harm(github: FakeGitHub, forge: GitHub) -> None:
    github.comment(7, f"{mark(499).line}\nolder")
    github.comment(7, f"{mark(500).line}\nnewer")
    github.fail("DELETE", "/comments", 403, READ_ONLY)
    assert forge.upsert_comment(7, mark(501), "now").outcome == "updated"
    assert len(github.bodies(7)) == 2


def test_a_comment_written_at_the_same_time_leaves_one(github: FakeGitHub, forge: GitHub) -> None:
    def meanwhile(*args: Any) -> dict[str, Any]:
        made = put(*args)
        if len(github.comments[7]) == 1:
            put(7, f"{mark(500, head_sha=OLD).line}\nthe other run's", JOB_LOGIN, "Bot")
        return made

    put, github._put_comment = github._put_comment, meanwhile  # type: ignore[method-assign,assignment]
    assert forge.upsert_comment(7, mark(501), "ours").outcome == "created"
    assert github.bodies(7) == [f"{mark(501).line}\nours"]


def test_nothing_to_say_and_no_comment_stays_silent(github: FakeGitHub, forge: GitHub) -> None:
    assert forge.upsert_comment(7, mark(), "unchanged", create=False).outcome == "silent"
    assert github.bodies(7) == []
    forge.upsert_comment(7, mark(), "worse")
    assert forge.upsert_comment(7, mark(501), "green again", create=False).outcome == "updated"


def test_our_comment_can_be_read_back(github: FakeGitHub, forge: GitHub) -> None:
    assert forge.own_comment(7, mark()) is None
    forge.upsert_comment(7, mark(500, 2, head_sha=OLD), "worse")
    kept = forge.own_comment(7, mark(900))
    assert kept is not None
    assert (kept.mark.age, kept.mark.head_sha) == ((500, 2), OLD)
    assert kept.body.endswith("\nworse")


# --- whose comment it is -----------------------------------------------------------------------------


def test_a_persons_comment_with_our_marker_is_not_ours(github: FakeGitHub, forge: GitHub) -> None:
    github.comment(7, f"{mark(9999).line}\nI typed this", login="mallory", kind="User")
    assert forge.upsert_comment(7, mark(), "the real one").outcome == "created"
    assert github.bodies(7)[0].endswith("I typed this")
    assert len(github.bodies(7)) == 2


def test_a_marker_further_down_is_a_quotation(github: FakeGitHub, forge: GitHub) -> None:
    github.comment(7, f"> {mark(9999).line}\nsee above")
    github.comment(7, f"\n{mark(9999).line}\nsee above")
    assert forge.upsert_comment(7, mark(), "ours").outcome == "created"


def test_a_foreign_bots_comment_that_cannot_be_edited_is_not_ours(github: FakeGitHub, forge: GitHub) -> None:
    github.others_editable = False
    github.comment(7, f"{mark(499).line}\na copy", login="copycat[bot]")
    assert forge.upsert_comment(7, mark(), "ours").outcome == "created"
    assert github.bodies(7)[0].endswith("a copy")


@pytest.mark.parametrize("login", [JOB_LOGIN, "desk-app[bot]"])
def test_another_bots_comment_with_our_marker_is_left_alone(login: str) -> None:
    with FakeGitHub(login=login) as github:
        github.pull(7)
        foreign = github.comment(7, f"{mark(400).line}\na copy", login="copycat[bot]")
        github.comment(7, f"{mark(9999).line}\nof a later run", login="copycat[bot]")
        assert GitHub(github.place, TOKEN).upsert_comment(7, mark(), "one").outcome == "created"
        assert GitHub(github.place, TOKEN).upsert_comment(7, mark(501), "two").outcome == "updated"
        assert [body.split("\n")[1] for body in github.bodies(7)] == ["a copy", "of a later run", "two"]
        assert foreign in github.comments[7]


def test_where_github_does_not_say_whose_token_it_is_it_is_a_jobs(github: FakeGitHub, forge: GitHub) -> None:
    github.comment(7, f"{mark(400).line}\nours")
    github.comment(7, f"{mark(400).line}\na copy", login="copycat[bot]")
    github.fail("POST", "/graphql", 403, READ_ONLY)
    assert forge.upsert_comment(7, mark(), "ours again").outcome == "updated"
    assert [body.split("\n")[1] for body in github.bodies(7)] == ["ours again", "a copy"]


def test_an_enterprise_servers_question_goes_beside_its_api(github: FakeGitHub) -> None:
    below = Place("https://ghe.example", f"{github.url}/api/v3", "acme/desk")
    with pytest.raises(ForgeError):
        GitHub(below, TOKEN)._api.json("POST", "/graphql", body={})
    assert github.journal[-1].target == "/api/graphql"
    github.faults.clear()


@pytest.mark.parametrize(
    "item",
    [
        5, None, "text", [], {}, {"id": "x"},
        {"id": 1, "body": None, "html_url": "u"}, {"id": 1, "body": "LINE"},
        {"id": "x", "body": "LINE", "html_url": "u"},
        {"id": 1, "body": "LINE", "html_url": "u", "user": "ada"},
        {"id": 1, "body": "LINE", "html_url": "u", "user": {"login": 7}},
    ],
)  # fmt: skip
def test_an_item_that_is_no_comment_is_passed_over(github: FakeGitHub, forge: GitHub, item: object) -> None:
    shown = item
    if isinstance(item, dict) and item.get("body"):
        shown = item | {"body": f"{mark(9999).line}\nx"}
    github.fail("GET", "/comments", 200, [shown])
    assert forge.upsert_comment(7, mark(), "ours").outcome == "created"
    assert len(github.bodies(7)) == 1


def test_a_comment_that_is_taken_and_not_listed_has_no_address(github: FakeGitHub, forge: GitHub) -> None:
    github.fail("POST", "/comments", 201, {"id": 5})
    posted = forge.upsert_comment(7, mark(), "ours")
    assert (posted.outcome, posted.url) == ("created", None)


def test_a_marker_with_a_damaged_run_is_older_than_any(github: FakeGitHub, forge: GitHub) -> None:
    github.comment(7, f"{mark().key}run=many -->\ndamaged")
    assert forge.upsert_comment(7, mark(1), "ours").outcome == "updated"
    assert github.bodies(7) == [f"{mark(1).line}\nours"]


def test_with_a_persons_token_that_persons_comment_is_ours() -> None:
    with FakeGitHub(login="ada") as github:
        github.pull(7)
        github.comment(7, f"{mark(9999).line}\nforged", login="mallory", kind="User")
        forge = GitHub(github.place, TOKEN)
        assert forge.upsert_comment(7, mark(), "one").outcome == "created"
        assert forge.upsert_comment(7, mark(501), "two").outcome == "updated"
        assert [body.split("\n")[1] for body in github.bodies(7)] == ["forged", "two"]


@pytest.mark.parametrize("others", [150, 200])
def test_C05_ours_is_found_behind_earlier_comments(github: FakeGitHub, forge: GitHub, others: int) -> None:
    for number in range(others):
        github.comment(7, f"remark {number}", login="ada", kind="User")
    forge.upsert_comment(7, mark(), "ours")
    for number in range(others):
        github.comment(7, f"reply {number}", login="ada", kind="User")
    assert forge.upsert_comment(7, mark(501), "ours again").outcome == "updated"
    assert sum("touchstone:comment" in body for body in github.bodies(7)) == 1
    assert all("per_page=100" in asked.target for asked in github.asked("GET"))


# --- what a forge may do -----------------------------------------------------------------------------


def test_C03_a_forks_read_only_token_is_an_outcome(github: FakeGitHub, forge: GitHub, sleeps: Sleeps) -> None:
    github.fail("POST", "/comments", **recorded("C03-403-fork.json"))
    posted = forge.upsert_comment(7, mark(), "x")
    assert (posted.outcome, posted.url) == ("read_only", None)
    assert "Resource not accessible by integration" in (posted.detail or "")
    assert sleeps == []
    assert len(github.asked("POST")) == 1


def test_C16_the_missing_permission_is_named(github: FakeGitHub, forge: GitHub) -> None:
    github.read_only = True
    posted = forge.upsert_comment(7, mark(), "x")
    assert posted.outcome == "read_only"
    assert "`permissions: {pull-requests: write}`" in (posted.hint or "")


def test_C09_a_locked_pull_request_is_an_outcome_and_not_tried_again(
    github: FakeGitHub, forge: GitHub, sleeps: Sleeps
) -> None:
    github.fail("POST", "/comments", **recorded("C09-403-locked.json"))
    assert forge.upsert_comment(7, mark(), "x").outcome == "locked"
    github.comment(7, f"{mark(499).line}\nbefore the lock")
    github.locked.add(7)
    posted = forge.upsert_comment(7, mark(), "x")
    assert posted.outcome == "locked"
    assert "locked" in (posted.detail or "")
    assert sleeps == []
    assert [asked.target for asked in github.asked("POST")][1:] == ["/graphql"]


@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_a_502_once_is_tried_again(github: FakeGitHub, forge: GitHub, sleeps: Sleeps, method: str) -> None:
    github.comment(7, f"{mark(499).line}\nbefore")
    github.fail(method, "/comments", 502)
    assert forge.upsert_comment(7, mark(), "x").outcome == "updated"
    assert sleeps == [1.0]


@pytest.mark.parametrize("status", [502, 0])
@pytest.mark.parametrize("after_the_deed", [False, True])
def test_C13_after_trouble_it_is_listed_again_before_creating(
    github: FakeGitHub, forge: GitHub, sleeps: Sleeps, status: int, after_the_deed: bool
) -> None:
    github.fail("POST", "/comments", status, after_the_deed=after_the_deed)
    assert forge.upsert_comment(7, mark(), "once").outcome == "created"
    assert github.bodies(7) == [f"{mark().line}\nonce"]
    assert sleeps == [1.0]


def test_a_502_that_stays_is_not_posted(github: FakeGitHub, forge: GitHub, sleeps: Sleeps) -> None:
    github.fail("GET", "/comments", 502, times=9)
    posted = forge.upsert_comment(7, mark(), "x")
    assert posted.outcome == "not_posted"
    assert sleeps == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("status", [403, 429])
def test_a_secondary_limit_is_waited_out(
    github: FakeGitHub, forge: GitHub, sleeps: Sleeps, status: int
) -> None:
    github.fail("POST", "/comments", status, SECONDARY, headers={"Retry-After": "17"})
    assert forge.upsert_comment(7, mark(), "x").outcome == "created"
    assert sleeps == [17.0]
    assert len(github.bodies(7)) == 1


def test_a_limit_without_a_time_waits_a_minute(github: FakeGitHub, forge: GitHub, sleeps: Sleeps) -> None:
    github.fail("GET", "/comments", 403, SECONDARY)
    assert forge.upsert_comment(7, mark(), "x").outcome == "created"
    assert sleeps == [60.0]


def test_a_spent_limit_waits_until_it_is_reset(github: FakeGitHub, forge: GitHub, sleeps: Sleeps) -> None:
    spent = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1790000025"}
    github.fail("GET", "/comments", 403, {"message": "API rate limit exceeded"}, headers=spent)
    assert forge.upsert_comment(7, mark(), "x").outcome == "created"
    assert sleeps == [25.0]


@pytest.mark.parametrize(
    "headers", [{"Retry-After": "61"}, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1790003600"}]
)
def test_a_longer_limit_is_not_waited_for(
    github: FakeGitHub, forge: GitHub, sleeps: Sleeps, headers: dict[str, str]
) -> None:
    github.fail("POST", "/comments", 403, SECONDARY, headers=headers)
    posted = forge.upsert_comment(7, mark(), "x")
    assert posted.outcome == "not_posted"
    assert "secondary rate limit" in (posted.detail or "")
    assert sleeps == []


@pytest.mark.parametrize(
    ("status", "body"),
    [(404, NOT_FOUND), (422, {"message": "Validation Failed"}), (401, {"message": "Bad credentials"})],
)
def test_no_such_pull_a_refused_text_or_a_bad_token_are_not_posted(
    github: FakeGitHub, forge: GitHub, status: int, body: dict[str, Any]
) -> None:
    github.fail("POST", "/comments", status, body)
    posted = forge.upsert_comment(7, mark(), "x")
    assert posted.outcome == "not_posted"
    assert str(body["message"]) in (posted.detail or "")


def test_no_pull_request_of_that_number_is_not_posted(forge: GitHub) -> None:
    assert forge.upsert_comment(8, mark(), "x").outcome == "not_posted"


def test_a_text_over_githubs_limit_names_it(forge: GitHub) -> None:
    assert "Body is too long" in (forge.upsert_comment(7, mark(), "x" * 66_000).detail or "")


# --- where the token goes ----------------------------------------------------------------------------


def test_C10_the_api_is_the_one_of_the_environment_and_no_redirect_is_followed(github: FakeGitHub) -> None:
    with FakeGitHub() as elsewhere:
        elsewhere.pull(7)
        there = {"Location": f"{elsewhere.url}/repos/acme/desk/issues/7/comments"}
        github.fail("GET", "/comments", 307, {"message": "Moved"}, headers=there)
        posted = GitHub(github.place, TOKEN).upsert_comment(7, mark(), "x")
        assert posted.outcome == "not_posted"
        assert elsewhere.journal == []


def test_C10_the_next_page_is_asked_of_our_api_whatever_the_link_says(github: FakeGitHub) -> None:
    with FakeGitHub() as elsewhere:
        link = {"Link": f'<{elsewhere.url}/steal?page=2>; rel="next"'}
        page = [dict(github.comment(7, f"remark {number}", login="ada", kind="User")) for number in range(3)]
        github.fail("GET", "/comments", 200, page, headers=link)
        assert GitHub(github.place, TOKEN).upsert_comment(7, mark(), "x").outcome == "created"
        assert elsewhere.journal == []
    assert "page=2" in github.journal[1].target


def test_the_token_is_in_no_error(github: FakeGitHub) -> None:
    github.fail("POST", "/comments", 422, {"message": f"bad header Bearer {TOKEN}"})
    posted = GitHub(github.place, TOKEN).upsert_comment(7, mark(), "x")
    assert "Bearer ***" in (posted.detail or "")
    assert TOKEN not in repr(posted)


def test_a_token_no_header_can_carry_is_an_outcome(github: FakeGitHub) -> None:
    for token in ("dümmy", "two\nlines", ""):
        posted = GitHub(github.place, token).upsert_comment(7, mark(), "x")
        assert posted.outcome == "not_posted"
        assert not token or token not in repr(posted)


def test_no_github_at_all_is_an_outcome() -> None:
    place = Place("https://github.com", "http://127.0.0.1:9", "acme/desk")
    posted = GitHub(place, TOKEN, sleep=Sleeps()).upsert_comment(7, mark(), "x")
    assert posted.outcome == "not_posted"
    assert "127.0.0.1:9 does not answer" in (posted.detail or "")


def test_an_answer_that_is_no_api_is_an_error(github: FakeGitHub) -> None:
    github.fail("GET", "/comments", 200, {"message": "a sign-in page"})
    with pytest.raises(ForgeError, match="no list"):
        GitHub(github.place, TOKEN).own_comment(7, mark())


def test_the_fake_notices_a_request_the_description_does_not_know(github: FakeGitHub, forge: GitHub) -> None:
    with pytest.raises(ForgeError):
        forge._api.ask("GET", "issues/7/comments", params={"sort": "updated"})
    assert github.faults == ["issues/list-comments: query value 'sort' is unknown"]
    github.faults.clear()


def test_a_forge_is_opened_by_its_name(github: FakeGitHub) -> None:
    assert FORGES["github"](github.place, TOKEN).upsert_comment(7, mark(), "x").outcome == "created"
