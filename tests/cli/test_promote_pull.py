"""A promotion by pull request, from the command line to a bare repository and a GitHub on this machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer
from tests.kit.cli import Done, touchstone
from tests.kit.fake_github import FORBIDDEN_BY_SETTING, NOT_FOUND, READ_ONLY, TOKEN, FakeGitHub
from tests.kit.scratch import ScratchRepo, clone
from touchstone.errors import ExitCode

BRANCH = "touchstone/promote/default-desk"
INTO_EDIT = "touchstone/promote/into/edit/default-desk"
FILE = "baselines/default/desk.json"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScratchRepo]:
    """A project with three runs of its pack; every test works on copies."""
    with ChatServer(desk.Mind(), models=(desk.MODEL, desk.JUDGE)) as server:
        repo = desk.project(tmp_path_factory.mktemp("made") / "project", server.base_url)
        done = touchstone(repo.path, "measure", "--pack", "desk", "--times", "3", "-q")
        assert done.code == ExitCode.NOTHING_WORSE, done.err
        yield repo


@pytest.fixture
def bare(made: ScratchRepo, tmp_path: Path) -> ScratchRepo:
    made.git("clone", "--quiet", "--bare", f"file://{made.path}", str(tmp_path / "bare.git"))
    return ScratchRepo(tmp_path / "bare.git")


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as running:
        running.branches |= {"edit", BRANCH, f"{BRANCH}-2", INTO_EDIT}
        yield running


def checkout(made: ScratchRepo, bare: ScratchRepo, *options: str, name: str = "work") -> ScratchRepo:
    """A clone of the bare repository, with the runs beside it."""
    copy = clone(bare, bare.path.parent / name, *options)
    shutil.copytree(made.path / "runs", copy.path / "runs")
    return copy


def promote(repo: ScratchRepo, *options: str, env: Mapping[str, str]) -> Done:
    """Promote the three runs. However it ends: index, working tree and current branch are as before."""
    before = repo.snapshot(), repo.head()
    done = touchstone(repo.path, "promote", *desk.run_ids(repo), *options, env=env)
    assert (repo.snapshot(), repo.head()) == before
    assert TOKEN not in done.out + done.err
    return done


def ok(done: Done) -> Done:
    assert done.code == ExitCode.NOTHING_WORSE, done.out + done.err
    return done


def files_on(bare: ScratchRepo, branch: str, base: str = "main") -> list[str]:
    return bare.git("diff", "--name-only", base, branch).split()


def test_a_detached_shallow_clone_without_identity_pushes_one_file_and_opens_a_pull_request(
    made: ScratchRepo, bare: ScratchRepo, github: FakeGitHub
) -> None:
    work = checkout(made, bare, "--depth=1")
    work.git("checkout", "-q", "--detach")
    for key in ("user.name", "user.email"):
        work.git("config", "--unset", key)
    seen = bare.path.parent
    work.hook("pre-commit", f"git diff --cached --name-only > {seen}/committing")
    work.hook("pre-push", f'echo "$1" > {seen}/pushing')
    work.write("untracked.md", "untracked\n")
    work.write("staged.md", "staged\n")
    work.git("add", "staged.md")
    work.write(".gitignore", "runs/\n*.tmp\n")
    done = ok(promote(work, env=github.environment()))
    assert files_on(bare, BRANCH) == [FILE]
    assert (seen / "committing").read_text() == f"{FILE}\n"
    assert (seen / "pushing").read_text() == "origin\n"
    (pull,) = github.pulls.values()
    assert (pull["head"]["ref"], pull["base"]["ref"], pull["draft"]) == (BRANCH, "main", False)
    assert pull["title"] == "baseline: promote desk (default)"
    assert "desk: 3 runs of" in pull["body"]
    assert f"pull request #1 into main opened: {pull['html_url']}" in done.out


def test_G13_run_again_it_updates_its_own_branch_and_pull_request(
    made: ScratchRepo, bare: ScratchRepo, github: FakeGitHub
) -> None:
    first = checkout(made, bare)
    ok(promote(first, env=github.environment()))
    before = bare.git("rev-parse", BRANCH)
    elsewhere = checkout(made, bare, "--depth=1", name="elsewhere")
    done = ok(promote(elsewhere, "--reason", "said better", env=github.environment()))
    assert bare.git("rev-parse", BRANCH) != before
    assert bare.git("rev-list", "--count", f"main..{BRANCH}").strip() == "1"
    assert "pull request #1 into main updated" in done.out
    assert len(github.pulls) == 1
    assert "said better" in github.pulls[1]["body"]
    assert bare.git("for-each-ref", "--format=%(refname:short)", "refs/heads/touchstone").split() == [BRANCH]


@pytest.mark.parametrize("depth", [(), ("--depth=1",)], ids=["full", "shallow"])
def test_G13_an_update_holds_when_the_base_has_moved_on(
    made: ScratchRepo, bare: ScratchRepo, github: FakeGitHub, depth: tuple[str, ...]
) -> None:
    work = checkout(made, bare)
    ok(promote(work, env=github.environment()))
    work.commit("unrelated", {"notes.md": "new\n"})
    work.git("push", "-q", "origin", "main")
    later = checkout(made, bare, *depth, name="later")
    ok(promote(later, env=github.environment()))
    assert bare.git("rev-list", "--count", f"main..{BRANCH}").strip() == "1"
    assert bare.git("rev-parse", f"{BRANCH}~1") == bare.git("rev-parse", "main")
    assert len(github.pulls) == 1


def test_a_stale_clone_promotes_onto_the_remotes_newest_base(
    made: ScratchRepo, bare: ScratchRepo, github: FakeGitHub
) -> None:
    stale = checkout(made, bare)
    other = checkout(made, bare, name="other")
    other.commit("unrelated", {"notes.md": "new\n"})
    other.git("push", "-q", "origin", "main")
    ok(promote(stale, env=github.environment()))
    assert bare.git("rev-parse", f"{BRANCH}~1") == bare.git("rev-parse", "main")


@pytest.mark.parametrize("depth", [(), ("--depth=1",)], ids=["full", "shallow"])
@pytest.mark.parametrize("beneath", [False, True], ids=["on-top", "beneath"])
def test_G13_a_branch_with_foreign_commits_is_left_alone_for_a_numbered_one(
    made: ScratchRepo, bare: ScratchRepo, github: FakeGitHub, depth: tuple[str, ...], beneath: bool
) -> None:
    work = checkout(made, bare)
    ok(promote(work, env=github.environment()))
    work.git("switch", "-q", BRANCH)
    ours = work.head()
    if beneath:
        work.git("reset", "-q", "--hard", "main")
    work.commit("a person's", {"notes.md": "mine\n"})
    if beneath:
        work.git("cherry-pick", ours)
    work.git("push", "-q", "--force", "origin", BRANCH)
    foreign = bare.git("rev-parse", BRANCH)
    later = checkout(made, bare, *depth, name="later")
    done = ok(promote(later, env=github.environment()))
    assert bare.git("rev-parse", BRANCH) == foreign
    assert files_on(bare, f"{BRANCH}-2") == [FILE]
    assert f"pushed {BRANCH}-2 to origin" in done.out
    assert [pull["head"]["ref"] for pull in github.pulls.values()] == [BRANCH, f"{BRANCH}-2"]


def test_a_merged_branch_that_still_stands_is_used_again(
    made: ScratchRepo, bare: ScratchRepo, github: FakeGitHub
) -> None:
    work = checkout(made, bare)
    ok(promote(work, env=github.environment()))
    work.git("merge", "-q", "--no-ff", "-m", "merge", BRANCH)
    work.git("push", "-q", "origin", "main")
    github.pulls[1]["state"] = "closed"
    later = checkout(made, bare, "--depth=1", name="later")
    done = ok(promote(later, "--reason", "again", env=github.environment()))
    assert f"pushed {BRANCH} to origin" in done.out
    assert files_on(bare, BRANCH) == [FILE]
    assert "in place of" in github.pulls[2]["body"]


def test_on_a_feature_branch_it_goes_into_that_branch(
    made: ScratchRepo, bare: ScratchRepo, github: FakeGitHub
) -> None:
    work = checkout(made, bare)
    work.git("switch", "-q", "-c", "edit")
    work.commit("notes", {"notes.md": "new\n"})
    refused = promote(work, env=github.environment())
    assert refused.code == ExitCode.REFUSED
    assert "branch edit is not on origin" in refused.err
    assert "git push -u origin edit" in refused.err
    work.git("push", "-q", "origin", "edit")
    ok(promote(work, "--draft", env=github.environment()))
    assert files_on(bare, INTO_EDIT, "edit") == [FILE]
    assert (github.pulls[1]["base"]["ref"], github.pulls[1]["draft"]) == ("edit", True)


def test_a_promotion_into_a_feature_branch_leaves_the_one_into_the_default_branch_alone(
    made: ScratchRepo, bare: ScratchRepo, github: FakeGitHub
) -> None:
    work = checkout(made, bare)
    ok(promote(work, env=github.environment()))
    before = bare.git("rev-parse", BRANCH)
    work.git("switch", "-q", "-c", "edit")
    work.commit("a note", {"notes.md": "1"})
    work.git("push", "-q", "origin", "edit")
    for told in ("#2 into edit opened", "#2 into edit updated"):
        assert told in ok(promote(work, env=github.environment())).out
    assert bare.git("rev-parse", BRANCH) == before
    bases = {number: (pull["head"]["ref"], pull["base"]["ref"]) for number, pull in github.pulls.items()}
    assert bases == {1: (BRANCH, "main"), 2: (INTO_EDIT, "edit")}
    work.git("branch", "-q", "-D", INTO_EDIT)
    assert f"on {INTO_EDIT}" in ok(promote(work, "--no-pr", env=github.environment())).out


def test_a_feature_branch_with_unpushed_commits_is_refused(
    made: ScratchRepo, bare: ScratchRepo, github: FakeGitHub
) -> None:
    work = checkout(made, bare)
    work.git("switch", "-q", "-c", "edit")
    work.git("push", "-q", "origin", "edit")
    work.commit("notes", {"notes.md": "new\n"})
    refused = promote(work, env=github.environment())
    assert refused.code == ExitCode.REFUSED
    assert "they would ride along" in refused.err
    assert "touchstone" not in bare.git("branch", "--list")


@pytest.mark.parametrize(
    ("status", "body", "way_out"),
    [
        (403, READ_ONLY, "contents: write"),
        (403, FORBIDDEN_BY_SETTING, "allow GitHub Actions to create"),
        (404, NOT_FOUND, "the token may see them"),
    ],
)
def test_a_token_that_may_not_open_pull_requests_leaves_the_compare_link(
    made: ScratchRepo, bare: ScratchRepo, github: FakeGitHub, status: int, body: dict[str, str], way_out: str
) -> None:
    work = checkout(made, bare)
    github.fail("POST", "/pulls", status, body, times=9)
    done = ok(promote(work, env=github.environment()))
    assert files_on(bare, BRANCH) == [FILE]
    assert f"https://github.com/acme/desk/compare/main...{BRANCH}?expand=1" in done.out
    assert way_out in done.err
    assert github.pulls == {}


def test_without_a_token_the_branch_is_pushed_and_the_link_printed(
    made: ScratchRepo, bare: ScratchRepo, github: FakeGitHub
) -> None:
    work = checkout(made, bare)
    done = ok(promote(work, env=github.environment() | {"GITHUB_TOKEN": ""}))
    assert files_on(bare, BRANCH) == [FILE]
    assert f"/compare/main...{BRANCH}?expand=1" in done.out
    assert github.journal == []


def test_a_remote_that_is_no_github_gets_the_branch_and_no_token(
    made: ScratchRepo, bare: ScratchRepo, github: FakeGitHub
) -> None:
    work = checkout(made, bare)
    done = ok(promote(work, env={"GITHUB_TOKEN": TOKEN}))
    assert files_on(bare, BRANCH) == [FILE]
    assert f"Open a pull request of {BRANCH} into main there." in done.out


def test_G15_a_protected_branch_is_refused_once_with_the_remotes_words(
    made: ScratchRepo, bare: ScratchRepo, github: FakeGitHub
) -> None:
    hook = bare.path / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'GH006: Protected branch update failed' >&2\nexit 1\n")
    hook.chmod(0o755)
    work = checkout(made, bare)
    refused = promote(work, env=github.environment())
    assert refused.code == ExitCode.REFUSED
    assert refused.err.count("GH006: Protected branch update failed") == 1
    assert f"git push origin {BRANCH}" in refused.err
    assert github.pulls == {}
    assert "touchstone" not in bare.git("branch", "--list")


def test_G15_nothing_but_its_own_branch_is_pushed(
    made: ScratchRepo, bare: ScratchRepo, github: FakeGitHub
) -> None:
    work = checkout(made, bare)
    work.git("tag", "-a", "-m", "a tag", "v9")
    work.git("config", "push.followTags", "true")
    work.git("config", "push.default", "matching")
    main = bare.git("rev-parse", "main")
    work.commit("unpushed", {"notes.md": "mine\n"})
    ok(promote(work, env=github.environment()))
    assert bare.git("rev-parse", "main") == main
    assert bare.git("tag") == ""
    assert files_on(bare, BRANCH) == [FILE]


def test_a_rejecting_pre_push_hook_is_quoted(
    made: ScratchRepo, bare: ScratchRepo, github: FakeGitHub
) -> None:
    work = checkout(made, bare)
    work.hook("pre-push", "echo 'not on a Friday' >&2; exit 1")
    refused = promote(work, env=github.environment())
    assert refused.code == ExitCode.REFUSED
    assert "not on a Friday" in refused.err


def test_a_remote_that_does_not_answer_is_refused_before_anything_is_written(
    made: ScratchRepo, bare: ScratchRepo, github: FakeGitHub
) -> None:
    work = checkout(made, bare)
    work.git("remote", "set-url", "origin", "https://ada:secret@127.0.0.1:9/acme/desk.git")
    refused = promote(work, env=github.environment())
    assert refused.code == ExitCode.REFUSED
    assert "127.0.0.1" in refused.err
    assert "secret" not in refused.err
    assert work.git("branch", "--list", "touchstone/*") == ""


def test_without_a_remote_the_two_other_ways_are_named(made: ScratchRepo, bare: ScratchRepo) -> None:
    work = checkout(made, bare)
    work.git("remote", "remove", "origin")
    refused = promote(work, env={})
    assert refused.code == ExitCode.REFUSED
    assert "--no-pr or --here" in refused.err


@pytest.mark.parametrize("options", [("--here", "--no-pr"), ("--here", "--draft"), ("--no-pr", "--draft")])
def test_options_that_do_not_fit_together_are_wrong_usage(
    made: ScratchRepo, options: tuple[str, ...]
) -> None:
    assert touchstone(made.path, "promote", "run", *options).code == ExitCode.USAGE


def test_a_branch_that_was_deleted_on_the_remote_is_free_again(
    made: ScratchRepo, bare: ScratchRepo, github: FakeGitHub
) -> None:
    work = checkout(made, bare)
    work.git("switch", "-q", "-c", BRANCH)
    work.commit("a person's", {"notes.md": "mine\n"})
    work.git("push", "-q", "origin", BRANCH)
    work.git("switch", "-q", "main")
    work.git("branch", "-q", "-D", BRANCH)
    bare.git("branch", "-q", "-D", BRANCH)
    ok(promote(work, env=github.environment()))
    assert files_on(bare, BRANCH) == [FILE]
