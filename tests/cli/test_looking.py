"""The verbs that only look: history, list, show, report."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from tests.kit.chat_server import ChatServer
from tests.kit.cli import environment, touchstone
from tests.kit.markup import markup
from tests.kit.minds import (
    JUDGE,
    MODEL,
    Clerk,
    clerk_project,
    pack_text,
    usual_scores,
    with_baseline,
)
from tests.kit.scratch import AUTHOR, ScratchRepo, clone
from touchstone.cli.main import touchstone as front_door
from touchstone.errors import ExitCode
from touchstone.run.find import list_bundles

BASELINE = "baselines/default/clerk.json"


@pytest.fixture(scope="module")
def clerk() -> Clerk:
    return Clerk()


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory, clerk: Clerk) -> Iterator[ScratchRepo]:
    """A project whose baseline was promoted twice, broken once and put right."""
    folder = tmp_path_factory.mktemp("looking") / "project"
    with ChatServer(clerk, models=(MODEL, JUDGE)) as server:
        made = with_baseline(clerk_project(folder, server.base_url, pack_text("judged", 5)))
        clerk.scores = lambda given: {"Q1": 5, "Q2": usual_scores(given)["Q2"]}
        for path in made.path.glob("runs/*/manifest.json"):
            path.rename(path.with_name("aside"))
        with_baseline(made, "--reason", "a better prompt")
        good = (made.path / BASELINE).read_text()
        made.commit("break it", {BASELINE: good.replace('"pct":90', '"pct":99')})
        made.commit("put it right", {BASELINE: good})
        clerk.flags = lambda given: given.prompt == "P02" and given.today and given.pass_ == 0
        _next_second()
        assert touchstone(made.path, "check", "-q").code == 0
        yield made


def _next_second() -> None:
    """Runs of one second are in no order; the one made now is the latest."""
    began = int(time.time())
    while int(time.time()) == began:
        time.sleep(0.02)


def test_history_tells_each_commit_with_its_numbers(repo: ScratchRepo) -> None:
    done = touchstone(repo.path, "history")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == f"clerk · {BASELINE}"
    assert lines[2].startswith(f"{MODEL} · house  ")
    assert lines[2].split("  ")[1] in {"▁█ █", "▁▇ ▇"}
    assert AUTHOR in lines[3]
    assert "90.0 %" in lines[3]
    assert any("a better prompt" in line and "0 of 3 runs read worse" in line for line in lines)
    assert "recomputed" in done.out, "the commit that broke it says why it cannot be read"


def test_history_as_json_has_reasons_prompts_and_safety(repo: ScratchRepo) -> None:
    (history,) = touchstone(repo.path, "history", "clerk", "--json").json()
    commits = history["commits"]
    assert [bool(commit["fault"]) for commit in commits] == [False, True, False, False]
    newest, first = commits[0], commits[-1]
    assert newest["reason"] == "a better prompt"
    assert first["reason"] is None
    assert newest["cells"][0]["safety"] is True
    assert newest["cells"][0]["prompt_sha256"].startswith("sha256:")
    assert (newest["trials"], newest["trials_worse"]) == (3, 0)
    (limited,) = touchstone(repo.path, "history", "--limit", "1", "--json").json()
    assert limited["commits"] == commits[:1]


def test_history_of_a_pack_without_a_baseline_says_how_to_make_one(repo: ScratchRepo) -> None:
    done = touchstone(repo.path, "history", "other")
    assert done.code == ExitCode.REFUSED
    assert "other: no baseline in the history of HEAD" in done.err
    assert "touchstone measure --pack other --times 3" in done.err


def test_list_names_packs_baselines_and_runs(repo: ScratchRepo) -> None:
    (run,) = [path.parent.name for path in repo.path.glob("runs/*/comparison.json")]
    done = touchstone(repo.path, "list")
    assert "clerk 1  5 prompts  Clerk  (packs/clerk.yaml)\n" in done.out
    assert f"{BASELINE}  " in done.out
    assert f"3 runs  {MODEL} · house 90.0 %\n" in done.out
    assert f"{run}  draw 10  {MODEL} · house 90.0 %\n" in done.out
    told = touchstone(repo.path, "list", "--json").json()
    assert [pack["id"] for pack in told["packs"]] == ["clerk"]
    assert told["baselines"][0]["pack"] == "clerk"
    assert told["runs"][-1]["draw"] == 10


def test_list_says_which_baseline_cannot_be_used(repo: ScratchRepo) -> None:
    path = repo.path / BASELINE
    good = path.read_text()
    path.write_text(good.replace('"pct":90', '"pct":99'))
    try:
        assert f"{BASELINE}  cannot be used: " in touchstone(repo.path, "list").out
    finally:
        path.write_text(good)


def test_show_puts_both_answers_and_verdicts_beside_each_other(repo: ScratchRepo) -> None:
    (run,) = [path.parent.name for path in repo.path.glob("runs/*/comparison.json")]
    done = touchstone(repo.path, "show", run, "P02")
    assert done.code == 0, done.err
    assert done.out.startswith("Prompt P02\n  | P02?\n")
    kept = r"  reference: 90\.0 %, pass\n    Q1 5 · Q2 4\n    \| P02 answered well in draw [012]\n"
    assert re.search(kept, done.out), done.out
    assert "    all 3 draws: 90.0 %, 90.0 %, 90.0 %\n" in done.out
    assert "  run: 90.0 %, pass\n    Q1 5 · Q2 4\n    red flag\n    Judge: As seen.\n" in done.out
    (row,) = touchstone(repo.path, "show", run, "P02", "--json").json()
    assert row["question"] == "P02?"
    assert row["run"]["repeats"][0]["rationale"] == "As seen."
    assert row["reference"]["draws"] == [90, 90, 90]
    assert touchstone(repo.path, "show", run, "P99").code == ExitCode.REFUSED
    german = touchstone(repo.path, "show", run, "P02", "--language", "de")
    assert "  Referenz: 90,0 %, bestanden\n" in german.out


def test_list_shows_the_newest_runs_alone(repo: ScratchRepo) -> None:
    (run,) = [path.parent.name for path in repo.path.glob("runs/*/comparison.json")]
    done = touchstone(repo.path, "list", "--limit", "1")
    assert done.out.splitlines()[-1].startswith(f"{run}  draw 10  ")
    assert done.out.splitlines()[-2].startswith(BASELINE)
    assert [one["id"] for one in touchstone(repo.path, "list", "--limit", "1", "--json").json()["runs"]] == [
        run
    ]


def test_quiet_leaves_out_notes(repo: ScratchRepo) -> None:
    settings = repo.path / "touchstone.yaml"
    usual = settings.read_text()
    settings.write_text(usual + "machine: a box\n")
    try:
        for verb in (["list"], ["history"], ["compare", "latest"], ["show", "clerk", "--variant", "house"]):
            told, quiet = touchstone(repo.path, *verb), touchstone(repo.path, *verb, "--quiet")
            assert "machine" in told.err
            assert quiet.err == ""
            assert (quiet.out, quiet.code) == (told.out, told.code)
    finally:
        settings.write_text(usual)


def completed(*words: str) -> list[str]:
    """What a shell is offered after `touchstone WORDS`, the last one half typed."""
    shell = ShellComplete(front_door, {}, "touchstone", "_TOUCHSTONE_COMPLETE")
    return [item.value for item in shell.get_completions(list(words[:-1]), words[-1])]


def test_a_shell_is_offered_runs_packs_and_prompts(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.path)
    runs = [bundle.id for bundle in reversed(list_bundles(repo.path / "runs"))]
    assert completed("compare", "") == ["latest", *runs]
    assert completed("promote", runs[-1]) == [runs[-1]]
    assert completed("show", "") == ["latest", "clerk", *runs]
    assert completed("show", "latest", "P") == ["P01", "P02", "P03", "P04", "P05"]
    assert completed("history", "cl") == ["clerk"]
    assert completed("check", "--pack", "") == ["clerk"]
    assert completed("list", "--j") == ["--json"]
    monkeypatch.chdir(repo.path.parent)
    assert completed("show", "latest", "") == [], "no project here, and no traceback"


def test_report_has_json_under_both_names(repo: ScratchRepo) -> None:
    one, other = (
        touchstone(repo.path, "report", "latest", "--json"),
        touchstone(repo.path, "report", "latest", "--format", "json"),
    )
    assert json.loads(one.out) == json.loads(other.out)


@pytest.mark.parametrize(("shell", "words"), [("bash", "touchstone che"), ("zsh", "touchstone che")])
def test_shell_completion_completes_verbs(tmp_path: Path, shell: str, words: str) -> None:
    env = environment(tmp_path) | {
        "_TOUCHSTONE_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "touchstone"],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "check" in done.stdout, done.stderr
    assert done.returncode == 0


def test_the_completion_script_names_the_command(tmp_path: Path) -> None:
    env = environment(tmp_path) | {"_TOUCHSTONE_COMPLETE": "zsh_source"}
    done = subprocess.run(
        [sys.executable, "-m", "touchstone"],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "compdef" in done.stdout


def test_a_report_as_a_page_holds_the_run_against_a_baseline(repo: ScratchRepo) -> None:
    page = repo.path / "page.html"
    done = touchstone(
        repo.path, "report", "latest", "--against", BASELINE, "--format", "html", "--write", str(page)
    )
    assert (done.code, done.out) == (0, ""), done.err
    assert done.err == f"{page}: {page.stat().st_size} bytes\n"
    text = " ".join(markup(page.read_text("utf-8")).text.split())
    comparison = touchstone(repo.path, "compare", BASELINE, "latest", "--json").json()
    assert f"{comparison['counts']['unchanged']} unchanged" in text
    assert "⚠ safety: flagged once in 5 judgements (P02)" in text
    assert comparison["cells"][0]["model"] in text
    assert "a better prompt" in text, "the baseline's history is there"
    assert AUTHOR in text


def test_a_report_as_a_page_of_the_run_alone(repo: ScratchRepo) -> None:
    done = touchstone(repo.path, "report", "latest", "--format", "html", "--language", "de")
    assert done.code == 0, done.err
    page = markup(done.out)
    assert page.elements[0] == ("html", {"lang": "de"})
    assert "ein Lauf für sich" in page.text
    assert touchstone(repo.path, "report", "latest", "--format", "html", "--json").json()["cells"]


def test_history_writes_a_page_beside_its_text(repo: ScratchRepo) -> None:
    page = repo.path / "history.html"
    done = touchstone(repo.path, "history", "clerk", "--html", str(page))
    assert done.code == 0, done.err
    assert done.out == touchstone(repo.path, "history", "clerk").out
    found = markup(page.read_text("utf-8"))
    assert len(found.of("chart")) == 1
    assert "recomputed" in found.text, "the commit that broke it says why it has no number"


def test_a_history_that_a_shallow_clone_does_not_hold_is_not_told_as_none(
    repo: ScratchRepo, tmp_path: Path
) -> None:
    repo.commit("something else", {"later.txt": "later"})
    shallow = clone(repo, tmp_path / "shallow", "--depth=1")
    done = touchstone(shallow.path, "history", "clerk")
    assert done.code == ExitCode.REFUSED
    assert "this shallow clone does not hold the commits that agreed to it" in done.err
    assert "git fetch --unshallow" in done.err
    shallow.git("fetch", "--quiet", "--unshallow")
    assert touchstone(shallow.path, "history", "clerk").code == ExitCode.NOTHING_WORSE
