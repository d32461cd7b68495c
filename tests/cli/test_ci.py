"""The check of a pull request, from the event to the comment, on a GitHub on this machine."""

from __future__ import annotations

import os
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer, Script, answer
from tests.kit.cli import ROOT
from tests.kit.fake_github import TOKEN, FakeGitHub
from tests.kit.runner import NUMBER, Event, Files, Home, Runner
from tests.kit.scratch import ScratchRepo, scratch_repo
from touchstone.errors import ExitCode

PROMPT_FILE, PACK_FILE, SETTINGS_FILE = "prompts/house.md", "packs/desk.yaml", "touchstone.yaml"


def file_of(home: Home, path: str) -> str:
    return home.source.git("show", f"HEAD:{path}")


def test_a_prompt_that_hurts_is_told_everywhere_and_fails_the_job(
    home: Home, runner: Runner, github: FakeGitHub
) -> None:
    pull = home.pull_request({PROMPT_FILE: desk.WORSE_PROMPT})
    done = runner.run(home.checkout(pull.merge, depth=2), pull.event())
    assert done.code == ExitCode.WORSE
    assert (done.outputs["exit-code"], done.outputs["verdict"]) == ("1", "worse")
    assert done.outputs["headline"] == "desk: WORSE (a check that always passed fails) · 4 worse"
    (comment,) = github.comments[NUMBER]
    assert done.outputs["comment-url"] == comment["html_url"]
    for told in (comment["body"], done.summary):
        assert "🔴 desk: WORSE" in told
        assert f"the merge of `{pull.head[:12]}` into `{pull.base[:12]}`" in told, "can be pasted as it is"
        assert "80.0 % → 10.0 %" in told
        assert "-Answer carefully.\n+Answer at once." in told
        assert "| `A1` | `house` | 100.0 % → 0.0 % | worse" in told
        assert f"touchstone check --pack desk --baseline-from {pull.base}" in told
    assert done.annotations[0].startswith(
        "::error title=touchstone%3A desk,file=packs/desk.yaml::desk: WORSE"
    )
    assert len(done.annotations) <= 10


def test_runs_outlive_the_checkout_and_are_named(home: Home, runner: Runner) -> None:
    pull = home.pull_request({PROMPT_FILE: desk.OTHER_PROMPT})
    checkout = home.checkout(pull.merge)
    before = checkout.snapshot()
    done = runner.run(checkout, pull.event())
    assert done.code == ExitCode.NOTHING_WORSE
    run = Path(done.outputs["run"])
    assert run.parent == checkout.path.parent / "tool-cache/touchstone/runs/acme-desk"
    assert Path(done.outputs["comparison"]) == run / "comparison.json"
    assert "4 pass · 1 fail" in Path(done.outputs["report"]).read_text()
    assert checkout.snapshot() == before


def test_a_second_push_edits_the_comment_and_a_fix_turns_it_green(
    home: Home, runner: Runner, github: FakeGitHub
) -> None:
    pull = home.pull_request({PROMPT_FILE: desk.WORSE_PROMPT})
    runner.run(home.checkout(pull.merge), pull.event())
    (first,) = github.comments[NUMBER]
    red, url = first["body"], first["html_url"]
    pull = home.pushed_again(pull, {PROMPT_FILE: desk.OTHER_PROMPT})
    done = runner.run(home.checkout(pull.merge), pull.event(), run_id=4712)
    assert (done.code, done.outputs["comment-url"]) == (ExitCode.NOTHING_WORSE, url)
    (comment,) = github.comments[NUMBER]
    assert "🔴" in red
    assert "🔴" not in comment["body"]
    assert "🟢 desk: UNCHANGED" in comment["body"]
    assert pull.head[:12] in comment["body"]


def test_a_job_that_runs_again_says_so_and_keeps_the_worst_that_was_said(
    home: Home, runner: Runner, github: FakeGitHub, agreed: ScratchRepo
) -> None:
    pull = home.pull_request({PROMPT_FILE: desk.WORSE_PROMPT})
    checkout = home.checkout(pull.merge)
    runner.run(checkout, pull.event())
    checkout.write(PROMPT_FILE, desk.PROMPT)
    runner.run(checkout, pull.event(), attempt=2)
    (body,) = github.bodies(NUMBER)
    assert "attempt 2" in body
    assert "An earlier attempt at this commit said: worse." in body


def test_a_prompt_that_helps_gets_a_comment_too(
    home: Home, runner: Runner, github: FakeGitHub, promotions: dict[str, Files]
) -> None:
    home.work.git("switch", "--quiet", "--detach", "origin/main")
    home.committed({**promotions["worse"], PROMPT_FILE: desk.WORSE_PROMPT})
    home.work.git("push", "--quiet", "origin", "HEAD:refs/heads/main")
    home.work.git("fetch", "--quiet", "origin")
    pull = home.pull_request({PROMPT_FILE: desk.PROMPT})
    done = runner.run(home.checkout(pull.merge), pull.event())
    assert done.code == ExitCode.NOTHING_WORSE
    (body,) = github.bodies(NUMBER)
    assert "10.0 % → 80.0 %" in body
    assert "+Answer carefully." in body


def test_where_nothing_moved_there_is_no_comment(home: Home, runner: Runner, github: FakeGitHub) -> None:
    pull = home.pull_request({"notes.md": "unrelated\n"})
    done = runner.run(home.checkout(pull.merge), pull.event())
    assert (done.code, done.outputs["verdict"]) == (ExitCode.NOTHING_WORSE, "unchanged")
    assert github.bodies(NUMBER) == []
    assert "desk: UNCHANGED" in done.summary


def test_unless_one_is_always_wanted(home: Home, runner: Runner, github: FakeGitHub) -> None:
    pull = home.pull_request({"notes.md": "unrelated\n"})
    runner.run(home.checkout(pull.merge), pull.event(), env={"TOUCHSTONE_INPUT_COMMENT": "always"})
    assert len(github.bodies(NUMBER)) == 1


def test_the_very_first_pull_request_ends_well_without_a_reference(
    agreed: ScratchRepo, tmp_path: Path, runner: Runner, github: FakeGitHub
) -> None:
    empty = scratch_repo(tmp_path / "empty")
    empty.commit("nothing yet", {"README.md": "A project.\n"})
    home = Home(empty, tmp_path)
    files = {path: agreed.git("show", f"HEAD:{path}") for path in (PROMPT_FILE, PACK_FILE, SETTINGS_FILE)}
    pull = home.pull_request(files)
    done = runner.run(home.checkout(pull.merge), pull.event())
    assert (done.code, done.outputs["verdict"]) == (ExitCode.NOTHING_WORSE, "no_reference")
    (body,) = github.bodies(NUMBER)
    assert "The base has no touchstone.yaml" in body.replace("\\", "")
    assert "This change's server is asked, for it is on this machine: " in body
    assert "touchstone measure --pack desk --times 3" in body


def test_where_a_baseline_is_required_it_fails(agreed: ScratchRepo, tmp_path: Path, runner: Runner) -> None:
    source = scratch_repo(tmp_path / "empty")
    files = {path: agreed.git("show", f"HEAD:{path}") for path in (PROMPT_FILE, PACK_FILE, SETTINGS_FILE)}
    source.commit("no baseline", files)
    home = Home(source, tmp_path)
    pull = home.pull_request({"notes.md": "1"})
    done = runner.run(home.checkout(pull.merge), pull.event(), "--require-baseline")
    assert (done.code, done.outputs["exit-code"]) == (ExitCode.NOT_COMPARABLE, "3")


# --- what a change cannot do to its own measure ------------------------------------------------------


def test_a_looser_line_and_looser_settings_do_not_count_and_are_named(
    home: Home, runner: Runner, github: FakeGitHub
) -> None:
    pack = file_of(home, PACK_FILE).replace("max: 5}", "max: 5, threshold: 0.1}")
    settings = file_of(home, SETTINGS_FILE).replace("retries: 0", "retries: 1")
    settings += "compare: {case_reruns: 50, fail_on: worse, obvious_drop: 90}\nmax_calls: 4000\n"
    pull = home.pull_request({PROMPT_FILE: desk.WORSE_PROMPT, PACK_FILE: pack, SETTINGS_FILE: settings})
    done = runner.run(home.checkout(pull.merge), pull.event())
    assert (done.code, done.outputs["verdict"]) == (ExitCode.WORSE, "worse")
    (body,) = github.bodies(NUMBER)
    for told in ("retries 0 → 1", "case_reruns 5 → 50", "fail_on not-judged → worse", "max_calls – → 4000"):
        assert told in body.replace("\\", "")
    assert "A3/length" in body.replace("\\", "")
    assert "looser" in body


def test_an_endpoint_of_the_change_is_never_asked(home: Home, runner: Runner, github: FakeGitHub) -> None:
    with ChatServer(desk.Mind(), models=(desk.MODEL,)) as elsewhere:
        settings = file_of(home, SETTINGS_FILE)
        address = settings.split("base_url: '")[1].split("'")[0]
        settings = settings.replace(f"'{address}'", f"'{elsewhere.base_url}', api_key_env: DEPLOY_KEY")
        pull = home.pull_request({SETTINGS_FILE: settings})
        done = runner.run(home.checkout(pull.merge), pull.event(), env={"DEPLOY_KEY": "secret-of-the-owner"})
        assert elsewhere.requests == []
    assert done.outputs["verdict"] == "unchanged"
    (body,) = github.bodies(NUMBER)
    assert "api_key_env – → DEPLOY_KEY" in body.replace("\\", "")
    assert "secret-of-the-owner" not in body + done.out + done.err + done.summary


def test_a_pack_that_cannot_be_read_is_refused_with_every_fault_as_the_repository_names_it(
    home: Home, runner: Runner, github: FakeGitHub
) -> None:
    pull = home.pull_request({PACK_FILE: "schema: 1\nid: desk\n"})
    done = runner.run(home.checkout(pull.merge), pull.event())
    assert (done.code, done.outputs["verdict"]) == (ExitCode.REFUSED, "refused")
    assert done.outputs["headline"].startswith(
        "touchstone: REFUSED (packs/desk.yaml:1:1: categories is missing"
    )
    assert done.err.count("packs/desk.yaml:1:1: ") == 3
    assert done.outputs["headline"].count("; packs/desk.yaml:1:1: ") == 2
    assert github.bodies(NUMBER)[0].count("; packs/desk.yaml") == 2
    assert str(home.folder) not in done.err + done.summary + github.bodies(NUMBER)[0]


def test_a_deleted_case_is_named_first(home: Home, runner: Runner, github: FakeGitHub) -> None:
    pack = without(file_of(home, PACK_FILE), "A2")
    pull = home.pull_request({PACK_FILE: pack})
    done = runner.run(home.checkout(pull.merge), pull.event())
    assert done.code == ExitCode.NOTHING_WORSE
    (body,) = github.bodies(NUMBER)
    assert "gone: A2" in "\n".join(body.splitlines()[:8])


@pytest.mark.parametrize("cases", [("A1", "A2"), ("A5",)], ids=["too-many", "safety-critical"])
def test_too_many_deleted_cases_or_a_critical_one_are_no_verdict(
    home: Home, runner: Runner, cases: tuple[str, ...]
) -> None:
    pull = home.pull_request({PACK_FILE: without(file_of(home, PACK_FILE), *cases)})
    done = runner.run(home.checkout(pull.merge), pull.event())
    assert (done.code, done.outputs["verdict"]) == (ExitCode.NOT_COMPARABLE, "not_comparable")


def test_a_pack_that_is_gone_while_its_baseline_stands_is_no_verdict(home: Home, runner: Runner) -> None:
    other = desk.DESK_PACK.replace("id: desk", "id: other")
    pull = home.pull_request({PACK_FILE: None, "packs/other.yaml": other})
    done = runner.run(home.checkout(pull.merge), pull.event())
    assert done.code == ExitCode.NOT_COMPARABLE
    assert "pack desk is not in this tree any more" in done.err
    assert f"git rm {desk.BASELINE}" in done.err


def test_a_pack_that_is_retired_with_its_baseline_is_named(
    home: Home, runner: Runner, github: FakeGitHub
) -> None:
    other = desk.DESK_PACK.replace("id: desk", "id: other")
    pull = home.pull_request({PACK_FILE: None, "packs/other.yaml": other, desk.BASELINE: None})
    done = runner.run(home.checkout(pull.merge), pull.event())
    assert (done.code, done.outputs["verdict"]) == (ExitCode.NOTHING_WORSE, "no_reference")
    assert "This change retires pack desk" in github.bodies(NUMBER)[0]


STRICT = "compare: {strict_flags: true, min_drop: 1.5, require_baseline: true}\n"


@pytest.fixture
def strict_home(agreed: ScratchRepo, home: Home) -> Home:
    """A base whose settings are stricter than touchstone's own."""
    home.work.git("switch", "--quiet", "--detach", "origin/main")
    home.committed({SETTINGS_FILE: file_of(home, SETTINGS_FILE) + STRICT})
    home.work.git("push", "--quiet", "origin", "HEAD:refs/heads/main")
    home.work.git("fetch", "--quiet", "origin")
    return home


def test_settings_that_are_deleted_still_count_and_are_named_one_by_one(
    strict_home: Home, runner: Runner, github: FakeGitHub
) -> None:
    pull = strict_home.pull_request({SETTINGS_FILE: None})
    done = runner.run(strict_home.checkout(pull.merge), pull.event())
    assert done.code == ExitCode.NOTHING_WORSE
    body = github.bodies(NUMBER)[0].replace("\\", "")
    assert "This change deletes the settings touchstone.yaml" in body
    for told in ("strict_flags True → False", "min_drop 1.5 → ", "require_baseline True → False"):
        assert told in body
    assert "uncommitted" not in body + done.out


def test_a_pack_that_packs_names_no_more_is_checked_still_and_that_is_said(
    home: Home, runner: Runner, github: FakeGitHub
) -> None:
    settings = file_of(home, SETTINGS_FILE) + "packs: [other]\n"
    other = desk.DESK_PACK.replace("id: desk", "id: other")
    pull = home.pull_request({SETTINGS_FILE: settings, "other/other.yaml": other})
    done = runner.run(home.checkout(pull.merge), pull.event())
    body = github.bodies(NUMBER)[0].replace("\\", "")
    assert "packs ['packs'] → ['other']" in body
    assert len(done.outputs["run"].split("\n")) == 2
    # After it was merged, nothing holds desk against its baseline, and that is what is said.
    home.work.git("switch", "--quiet", "--detach", pull.merge)
    home.work.git("push", "--quiet", "origin", "HEAD:refs/heads/main")
    home.work.git("fetch", "--quiet", "origin")
    later = home.pull_request({"notes.md": "1"})
    done = runner.run(home.checkout(later.merge), later.event())
    assert done.code == ExitCode.NOT_COMPARABLE
    assert "packs/desk.yaml: pack desk is in none of the places that `packs` names" in done.err
    assert f"git rm packs/desk.yaml {desk.BASELINE}" in done.err


@pytest.mark.parametrize("with_baseline", [True, False])
def test_the_only_pack_may_be_retired_like_any_other(
    home: Home, runner: Runner, github: FakeGitHub, with_baseline: bool
) -> None:
    pull = home.pull_request({PACK_FILE: None} | ({desk.BASELINE: None} if with_baseline else {}))
    done = runner.run(home.checkout(pull.merge), pull.event())
    if with_baseline:
        assert (done.code, done.outputs["verdict"]) == (ExitCode.NOTHING_WORSE, "no_reference")
        assert done.outputs["headline"] == "No pack is left: nothing was checked"
        assert "This change retires pack desk" in github.bodies(NUMBER)[0]
    else:
        assert (done.code, done.outputs["verdict"]) == (ExitCode.NOT_COMPARABLE, "not_comparable")
        assert f"git rm {desk.BASELINE}" in done.err


def test_a_deleted_baseline_still_counts(home: Home, runner: Runner, github: FakeGitHub) -> None:
    pull = home.pull_request({desk.BASELINE: None, PROMPT_FILE: desk.WORSE_PROMPT})
    done = runner.run(home.checkout(pull.merge), pull.event())
    assert done.outputs["verdict"] == "worse"
    assert f"This change deletes the baseline {desk.BASELINE}" in github.bodies(NUMBER)[0].replace("\\", "")


def test_a_head_that_is_a_merge_is_held_against_the_base_of_the_event(home: Home, runner: Runner) -> None:
    lowered = home.pull_request({PROMPT_FILE: desk.WORSE_PROMPT, desk.BASELINE: None}).head
    home.work.git("switch", "--quiet", "--detach", "origin/main")
    other = home.committed({"notes.md": "1"})
    home.work.git("switch", "--quiet", "--detach", lowered)
    home.work.git("merge", "--quiet", "--no-ff", "-m", "a merge as head", other)
    home.work.git("push", "--quiet", "--force", "origin", "HEAD:refs/heads/edit")
    pull = home.pull_of(home.work.head())
    done = runner.run(home.checkout(pull.head), pull.event())
    assert done.outputs["verdict"] == "worse"


def without(pack: str, *cases: str) -> str:
    """The pack's text without these cases, each of which stands on one line."""
    lines = [line for line in pack.splitlines() if not any(f"{{id: {case}," in line for case in cases)]
    return "\n".join(lines) + "\n"


# --- who and what may start it -----------------------------------------------------------------------


def test_a_fork_is_refused_on_somebodys_own_machine(
    home: Home, runner: Runner, github: FakeGitHub, desk_server: ChatServer
) -> None:
    pull = home.pull_request({PROMPT_FILE: desk.WORSE_PROMPT})
    asked = len(desk_server.requests)
    done = runner.run(home.checkout(pull.merge), pull.event(head_repository="somebody/desk"))
    assert (done.code, done.outputs["verdict"]) == (ExitCode.REFUSED, "refused")
    assert "comes from a fork" in done.summary
    assert len(desk_server.requests) == asked
    assert github.journal == []


@pytest.mark.parametrize(
    "env", [{"TOUCHSTONE_INPUT_ALLOW_FORKS": "true"}, {"RUNNER_ENVIRONMENT": "github-hosted"}]
)
def test_unless_that_is_allowed_or_the_machine_is_thrown_away(
    home: Home, runner: Runner, github: FakeGitHub, env: dict[str, str]
) -> None:
    github.read_only = True  # as a fork's token is
    pull = home.pull_request({PROMPT_FILE: desk.WORSE_PROMPT})
    done = runner.run(home.checkout(pull.merge), pull.event(head_repository="somebody/desk"), env=env)
    assert (done.code, done.outputs["verdict"]) == (ExitCode.WORSE, "worse")
    assert github.bodies(NUMBER) == []


def test_pull_request_target_is_refused(home: Home, runner: Runner, github: FakeGitHub) -> None:
    pull = home.pull_request({PROMPT_FILE: desk.WORSE_PROMPT})
    event = Event("pull_request_target", pull.event().payload)
    done = runner.run(home.checkout(pull.merge), event)
    assert (done.code, done.outputs["exit-code"], github.journal) == (ExitCode.REFUSED, "4", [])
    assert "on: pull_request" in done.summary.replace("\\", "")
    named = re.search(r"docs/[\w/-]+\.md", done.summary.replace("\\", ""))
    assert named is not None
    assert (ROOT / named[0]).is_file()
    assert "head `" not in done.summary


@pytest.mark.parametrize("name", ["push", "merge_group", "schedule"])
def test_without_a_pull_request_the_verdict_stands_in_the_summary_alone(
    home: Home, runner: Runner, github: FakeGitHub, name: str
) -> None:
    pull = home.pull_request({PROMPT_FILE: desk.WORSE_PROMPT})
    payloads: dict[str, dict[str, Any]] = {
        "push": {"before": pull.base, "after": pull.head},
        "merge_group": {"merge_group": {"head_sha": pull.merge, "base_sha": pull.base}},
    }
    payload = payloads.get(name, {"repository": {"default_branch": "main"}})
    done = runner.run(home.checkout(pull.merge), Event(name, payload))
    assert (done.code, done.outputs["verdict"]) == (ExitCode.WORSE, "worse")
    assert "desk: WORSE" in done.summary
    assert (done.outputs["comment-url"], github.journal) == ("", [])


def test_an_unreadable_base_is_an_error_and_never_the_working_tree(home: Home, runner: Runner) -> None:
    pull = home.pull_request({desk.BASELINE: None})
    event = Event("push", {"before": "d" * 40, "after": pull.head})
    done = runner.run(home.checkout(pull.head), event)
    assert (done.code, done.outputs["verdict"], done.outputs["run"]) == (ExitCode.REFUSED, "refused", "")
    assert "d" * 40 in done.err


def test_outside_a_job_it_says_what_to_do(
    home: Home, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull = home.pull_request({"notes.md": "1"})
    done = runner.run(home.checkout(pull.merge), Event("", {}))
    assert done.code == ExitCode.USAGE
    assert "On your own machine: touchstone check" in done.err


# --- what a job ends with ----------------------------------------------------------------------------


@pytest.mark.parametrize(("fail_on", "code"), [("worse", 0), ("not-judged", 3), ("suspect", 3)], ids=str)
def test_what_fails_the_job_is_a_choice_and_the_output_is_always_touchstones(
    home: Home, runner: Runner, fail_on: str, code: int
) -> None:
    """The one pack is gone, so nothing has to be asked to know that there is no verdict."""
    other = desk.DESK_PACK.replace("id: desk", "id: other").split("      - {id: A2")[0]
    pull = home.pull_request({PACK_FILE: None, "packs/other.yaml": other})
    env = {"TOUCHSTONE_INPUT_FAIL_ON": fail_on}
    done = runner.run(home.checkout(pull.merge), pull.event(), env=env)
    assert (done.code, done.outputs["exit-code"], done.outputs["verdict"]) == (code, "3", "not_comparable")


def test_a_base_may_choose_what_fails_the_job(home: Home, runner: Runner) -> None:
    """The settings of main say `worse` by now, so a change whose case is gone passes, and is told."""
    settings = file_of(home, SETTINGS_FILE) + "compare: {fail_on: worse}\n"
    pack = without(file_of(home, PACK_FILE), "A5")
    pull = home.pull_request({PACK_FILE: pack}, onto={SETTINGS_FILE: settings})
    done = runner.run(home.checkout(pull.merge), pull.event())
    assert (done.code, done.outputs["exit-code"]) == (ExitCode.NOTHING_WORSE, "3")


def test_a_job_that_is_cancelled_leaves_outputs_and_no_comment(
    home: Home, runner: Runner, github: FakeGitHub, desk_server: ChatServer
) -> None:
    def cancelling(body: dict[str, Any]) -> Script:
        os.kill(os.getpid(), signal.SIGINT)
        return answer("too late", model=body["model"])

    pull = home.pull_request({PROMPT_FILE: desk.WORSE_PROMPT})
    checkout, mind = home.checkout(pull.merge), desk_server.script
    try:
        desk_server.script = cancelling
        done = runner.run(checkout, pull.event())
    finally:
        desk_server.script = mind
    assert (done.code, done.outputs["exit-code"]) == (ExitCode.INTERRUPTED, "130")
    assert done.outputs["verdict"] == "not_judged"
    assert github.journal == []
    assert "touchstone check --resume" in done.summary


def test_old_runs_make_room_where_they_outlive_the_checkout(home: Home, runner: Runner) -> None:
    settings = file_of(home, SETTINGS_FILE).replace("keep_runs: 1000", "keep_runs: 3")
    pull = home.pull_request({"notes.md": "1"}, onto={SETTINGS_FILE: settings})
    checkout = home.checkout(pull.merge)
    run = Path(runner.run(checkout, pull.event()).outputs["run"])
    old = [run.with_name(f"2020010{day}T000000Z_desk_00000{day}") for day in range(1, 5)]
    for folder in old:
        shutil.copytree(run, folder)
    runner.run(checkout, pull.event(), run_id=2)
    assert [folder.exists() for folder in (*old, run)] == [False, False, True, True, True]


def test_several_packs_are_one_comment_and_the_worst_speaks(
    home: Home, runner: Runner, github: FakeGitHub
) -> None:
    other = desk.DESK_PACK.replace("id: desk", "id: other")
    pull = home.pull_request({"packs/other.yaml": other, PROMPT_FILE: desk.WORSE_PROMPT})
    done = runner.run(home.checkout(pull.merge), pull.event())
    assert (done.code, done.outputs["verdict"]) == (ExitCode.WORSE, "worse")
    assert done.outputs["headline"] == "2 packs: 1 worse, 1 no reference yet"
    assert len(done.outputs["run"].splitlines()) == len(done.outputs["comparison"].splitlines()) == 2
    (body,) = github.bodies(NUMBER)
    assert body.index("### 🔴 desk: WORSE") < body.index("### ⚪ other: NO REFERENCE YET")


# --- secrets -----------------------------------------------------------------------------------------


def test_the_token_reaches_the_forge_and_nothing_else(
    home: Home, runner: Runner, github: FakeGitHub, desk_server: ChatServer
) -> None:
    pull = home.pull_request({PROMPT_FILE: desk.WORSE_PROMPT})
    checkout = home.checkout(pull.merge)
    seen = checkout.path.parent / "seen"
    checkout.git("config", "core.fsmonitor", f"sh -c 'env > {seen}; exit 1'")
    done = runner.run(checkout, pull.event())
    assert github.asked("POST")[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in seen.read_text()
    assert TOKEN not in done.out + done.err + done.summary + "".join(done.outputs.values())
    assert all(TOKEN not in str(asked.headers) for asked in desk_server.requests)
    run = Path(done.outputs["run"])
    assert all(TOKEN.encode() not in path.read_bytes() for path in run.iterdir() if path.is_file())
