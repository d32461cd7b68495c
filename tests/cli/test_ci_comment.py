"""The comment may fail in every way a forge knows; the verdict, the outputs and the exit code do not care."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.kit import desk
from tests.kit.fake_github import SECONDARY, FakeGitHub
from tests.kit.runner import NUMBER, Done, Files, Home, Pull, Runner
from touchstone.cli import telling
from touchstone.errors import ExitCode
from touchstone.forge import FORGES

MARK = "<!-- touchstone:comment tenant=default target= name= "


@dataclass
class Case:
    """How GitHub behaves, and what a reader is told of it."""

    prepare: Callable[[FakeGitHub], object]
    notice: str | None
    comments: int


def _read_only(github: FakeGitHub) -> None:
    github.read_only = True


def _locked(github: FakeGitHub) -> None:
    github.locked.add(NUMBER)


def _talkative(github: FakeGitHub) -> None:
    for number in range(150):
        github.comment(NUMBER, f"comment {number}", login="ada", kind="User")
    github.comment(NUMBER, f"{MARK}run=1 attempt=1 head=aa -->\nold")


def _foreign(github: FakeGitHub) -> None:
    github.comment(NUMBER, f"{MARK}run=9 attempt=9 head=aa -->\nmine", login="eve", kind="User")


def _not_ours_to_edit(github: FakeGitHub) -> None:
    github.others_editable = False
    github.comment(NUMBER, f"{MARK}run=1 attempt=1 head=aa -->\nother bot's", login="other[bot]")


CASES = {
    "C03_a_read_only_token": Case(_read_only, "pull-requests: write", 0),
    "C09_a_locked_pull_request": Case(_locked, "locked", 0),
    "C05_150_earlier_comments": Case(_talkative, None, 151),
    "a_foreign_comment_with_our_mark": Case(_foreign, None, 2),
    "a_bots_comment_that_is_not_ours_to_edit": Case(_not_ours_to_edit, None, 2),
    "a_502_once": Case(lambda github: github.fail("POST", "/comments", 502), None, 1),
    "a_secondary_limit": Case(
        lambda github: github.fail("POST", "/comments", 403, SECONDARY, headers={"Retry-After": "0"}), None, 1
    ),
    "another_bots_comment": Case(
        lambda github: github.comment(NUMBER, f"{MARK}run=1 attempt=1 head=aa -->\nx", login="o[bot]"),
        None,
        2,
    ),
    "items_that_are_no_comments": Case(
        lambda github: github.fail("GET", "/comments", 200, [{"id": "x"}, 5]), None, 1
    ),
    "a_404": Case(lambda github: github.pulls.clear(), "", 0),
}


@pytest.fixture
def pull(home: Home, promotions: dict[str, Files]) -> Pull:
    """A change that needs no model to be checked, and that is always told."""
    return home.pull_request(promotions["same"])


def run(home: Home, runner: Runner, pull: Pull, *options: str, **more: object) -> Done:
    return runner.run(home.checkout(pull.merge), pull.event(), *options, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_whatever_becomes_of_the_comment_the_verdict_is_the_same(
    home: Home, runner: Runner, github: FakeGitHub, pull: Pull, case: Case
) -> None:
    case.prepare(github)
    done = run(home, runner, pull)
    assert (done.code, done.outputs["exit-code"], done.outputs["verdict"]) == (0, "0", "promotion")
    assert "desk: PROMOTION" in done.summary
    notices = [line for line in done.annotations if "no comment of this run" in line]
    assert len(notices) == (0 if case.notice is None else 1)
    assert "".join(notices).count(case.notice or "") > 0
    assert ("no comment of this run" in done.summary) == (case.notice is not None)
    assert bool(done.outputs["comment-url"]) == (case.notice is None)
    assert len(github.bodies(NUMBER)) == case.comments


def test_C03_a_read_only_token_does_not_turn_red_to_green_nor_green_to_red(
    home: Home, runner: Runner, github: FakeGitHub
) -> None:
    github.read_only = True
    worse = home.pull_request({"prompts/house.md": desk.WORSE_PROMPT})
    done = run(home, runner, worse)
    assert (done.code, done.outputs["verdict"]) == (ExitCode.WORSE, "worse")
    assert "desk: WORSE" in done.summary
    assert [asked.status for asked in github.asked("POST")] == [403]


def test_C09_a_locked_pull_request_is_asked_once(
    home: Home, runner: Runner, github: FakeGitHub, pull: Pull
) -> None:
    github.locked.add(NUMBER)
    run(home, runner, pull)
    assert [asked.status for asked in github.asked("POST")] == [403]


def test_C16_the_notice_names_the_permission_a_job_lacks(
    home: Home, runner: Runner, github: FakeGitHub, pull: Pull
) -> None:
    github.read_only = True
    notice = run(home, runner, pull).annotations[-1]
    assert notice.startswith("::notice title=touchstone::")
    assert "pull-requests: write" in notice


def test_C13_a_comment_is_listed_before_it_is_made_and_then_kept_up_to_date(
    home: Home, runner: Runner, github: FakeGitHub, pull: Pull
) -> None:
    first = run(home, runner, pull)
    second = run(home, runner, pull, run_id=4712)
    assert first.outputs["comment-url"] == second.outputs["comment-url"]
    (body,) = github.bodies(NUMBER)
    assert "run=4712" in body
    assert [asked.method for asked in github.journal] == [
        *("GET", "GET", "POST", "GET"),
        *("GET", "POST", "GET", "PATCH"),  # the second run asks whose token it has
    ]


def test_C10_the_environments_api_is_asked_and_no_other(
    home: Home, runner: Runner, github: FakeGitHub, pull: Pull
) -> None:
    run(home, runner, pull, env={"GITHUB_SERVER_URL": "https://ghe.example"})
    assert github.asked("POST")[0].target == f"/repos/acme/desk/issues/{NUMBER}/comments"
    assert "https://ghe.example/acme/desk/actions/runs/4711" in github.bodies(NUMBER)[0]


def test_C14_no_text_is_an_argument_of_a_process(
    home: Home, runner: Runner, github: FakeGitHub, pull: Pull
) -> None:
    """The comment goes as JSON over HTTP, whatever its length."""
    run(home, runner, pull)
    assert github.asked("POST")[0].headers["content-type"] == "application/json"
    assert set(github.asked("POST")[0].body) == {"body"}


def test_a_fault_of_ours_on_the_way_to_the_comment_is_said_and_changes_nothing(
    home: Home, runner: Runner, pull: Pull, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object) -> object:
        raise KeyError("html_url\n::error::not a command")

    monkeypatch.setitem(FORGES, "github", broken)
    done = run(home, runner, pull)
    assert (done.code, done.outputs["exit-code"], done.outputs["verdict"]) == (0, "0", "promotion")
    assert "KeyError" in done.annotations[-1]
    assert "Traceback" in done.err


def test_a_fault_of_ours_before_the_verdict_leaves_outputs_that_say_so(
    home: Home, runner: Runner, pull: Pull, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object) -> object:
        raise KeyError("here")

    monkeypatch.setattr(telling, "summary_text", broken)
    done = run(home, runner, pull)
    assert (done.code, done.outputs["exit-code"], done.outputs["verdict"]) == (70, "70", "")
    assert done.annotations == []  # and every line of the traceback stood where no command is taken


@pytest.mark.parametrize("name", ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"])
def test_a_file_of_the_runners_that_cannot_be_written_leaves_the_verdict_and_the_comment(
    home: Home, runner: Runner, github: FakeGitHub, name: str
) -> None:
    pull = home.pull_request({"prompts/house.md": desk.WORSE_PROMPT})
    done = run(home, runner, pull, env={name: str(home.work.path / "no/such/file")})
    assert done.code == ExitCode.WORSE
    assert "cannot be written" in done.err
    assert done.annotations
    assert "desk: WORSE" in github.bodies(NUMBER)[0]


def test_without_a_repository_there_is_a_notice(
    home: Home, runner: Runner, github: FakeGitHub, pull: Pull
) -> None:
    done = run(home, runner, pull, env={"GITHUB_REPOSITORY": ""})
    assert (done.code, github.journal) == (ExitCode.NOTHING_WORSE, [])
    assert "GITHUB_REPOSITORY" in done.annotations[-1]


def test_without_a_token_there_is_a_notice(
    home: Home, runner: Runner, github: FakeGitHub, pull: Pull
) -> None:
    done = run(home, runner, pull, env={"GITHUB_TOKEN": ""})
    assert (done.code, github.journal) == (ExitCode.NOTHING_WORSE, [])
    assert "github-token" in done.annotations[-1]


def test_a_comment_that_is_never_wanted_is_never_written(
    home: Home, runner: Runner, github: FakeGitHub, pull: Pull
) -> None:
    done = run(home, runner, pull, "--comment", "never")
    assert (github.journal, done.annotations[1:]) == ([], [])


def test_calls_with_names_keep_to_their_own_comments(
    home: Home, runner: Runner, github: FakeGitHub, pull: Pull
) -> None:
    for name in ("small", "large", "small"):
        run(home, runner, pull, env={"TOUCHSTONE_INPUT_NAME": name})
    assert [body.split("name=")[1].split()[0] for body in github.bodies(NUMBER)] == ["small", "large"]


def test_an_older_run_never_takes_the_place_of_a_newer_ones_comment(
    home: Home, runner: Runner, github: FakeGitHub, pull: Pull
) -> None:
    run(home, runner, pull, run_id=4800)
    newer = github.bodies(NUMBER)
    done = run(home, runner, pull, run_id=4700)
    assert github.bodies(NUMBER) == newer
    assert done.code == ExitCode.NOTHING_WORSE


def test_the_comment_speaks_german_where_that_is_wanted(
    home: Home, runner: Runner, github: FakeGitHub, pull: Pull
) -> None:
    run(home, runner, pull, env={"TOUCHSTONE_INPUT_LANGUAGE": "de"})
    (body,) = github.bodies(NUMBER)
    assert "Diese Änderung bringt eine Referenz für desk mit: 3 Läufe" in body
    assert "Nur Referenzen haben sich geändert" in body
