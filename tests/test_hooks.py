"""The pre-commit hooks: what brings them in, and both run by pre-commit from a repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.kit import desk
from tests.kit.chat_server import ChatServer
from tests.kit.cli import ROOT, touchstone
from tests.kit.scratch import ScratchRepo, scratch_repo
from touchstone.cli.main import VERBS
from touchstone.cli.validate import find_problems
from touchstone.demo.origin import Origin
from touchstone.demo.project import HOOKS_PATH, Server, Source, place, project_texts
from touchstone.errors import ExitCode

HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
BIN = Path(sys.executable).parent


def test_each_hook_is_a_verb_and_all_share_one_environment() -> None:
    assert [hook["id"] for hook in HOOKS] == ["touchstone-validate", "touchstone-check"]
    for hook in HOOKS:
        assert hook["entry"].split() == ["touchstone", hook["id"].partition("-")[2]]
        assert hook["entry"].split()[1] in VERBS
        assert hook["language"] == "python"
        assert hook["require_serial"] is True
        assert "additional_dependencies" not in hook


def test_each_runs_at_its_own_stage_or_by_hand() -> None:
    validate, check = HOOKS
    assert check["stages"] == ["pre-push", "manual"]
    assert check["pass_filenames"] is False
    assert validate["stages"] == ["pre-commit", "manual"]


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
@pytest.mark.parametrize(
    ("path", "comes_in"),
    [
        ("packs/starter.yaml", True),
        ("packs/a.yml", True),
        ("services/bot/packs/a.yaml", True),
        ("prompts/house.md", True),
        ("prompts/de/house.txt", True),
        ("touchstone.yaml", True),
        ("baselines/default/desk.json", True),
        ("baselines/acme/desk.mini.json", True),
        ("packs/README.md", False),
        ("packs/deeper/a.yaml", False),
        ("mypacks.yaml", False),
        ("src/touchstone.yaml.bak", False),
        ("my-touchstone.yaml", False),
        ("services/bot/touchstone.yml", True),
        (".github/workflows/touchstone.yml", False),
        ("mirror/.github/workflows/touchstone.yaml", False),
        (".github/workflows/touchstone-promote.yml", False),
        ("runs/20260101T000000Z_desk_abcdef/result.json", False),
    ],
)
def test_what_brings_a_hook_in(hook: dict[str, Any], path: str, comes_in: bool) -> None:
    assert bool(re.search(hook["files"], path)) is comes_in


def test_what_init_writes_passes_the_hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = project_texts(Server(), Source(Origin(None, None), None), 1)
    place(tmp_path, texts)
    monkeypatch.chdir(tmp_path)
    given = [Path(path) for path in texts if re.search(HOOKS[0]["files"], path)]
    assert [str(path) for path in given] == ["touchstone.yaml", "packs/starter.yaml", "prompts/assistant.md"]
    assert find_problems(given) == ([], [])


def test_a_deletion_is_seen_though_pre_commit_names_no_deleted_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert HOOKS[0]["always_run"] is True
    assert HOOKS[0]["args"] == ["--also-settings"]
    place(tmp_path, project_texts(Server(), Source(Origin(None, None), None), 1))
    monkeypatch.chdir(tmp_path)
    given = {(): [], ("packs/other.yaml",): [Path("packs/other.yaml")]}
    (tmp_path / "packs/other.yaml").write_text(
        (tmp_path / "packs/starter.yaml").read_text().replace("id: starter", "id: other", 1)
    )
    for paths in given.values():
        assert find_problems(paths, also_settings=True) == ([], [])
    (tmp_path / "prompts/assistant.md").unlink()
    for paths in given.values():
        problems, _ = find_problems(paths, also_settings=True)
        assert {problem.file for problem in problems} == {"packs/starter.yaml", "packs/other.yaml"}
        assert "assistant.md" in str(problems[0])
    shutil.rmtree(tmp_path / "packs")
    (problem,), _ = find_problems([], also_settings=True)
    assert "packs: no such file or folder" in str(problem)


def test_a_commit_in_a_project_without_settings_or_packs_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_problems([], also_settings=True) == ([], [])
    (tmp_path / "packs").mkdir()
    assert find_problems([], also_settings=True) == ([], [])


@pytest.fixture
def hook_repo(tmp_path: Path) -> ScratchRepo:
    """This tree as pre-commit would clone it, committed as it stands."""
    repo = scratch_repo(tmp_path / "touchstone")
    for name in (".pre-commit-hooks.yaml", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, repo.path / name)
    shutil.copytree(
        ROOT / "touchstone", repo.path / "touchstone", ignore=shutil.ignore_patterns("__pycache__")
    )
    repo.commit("everything")
    return repo


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(desk.Mind(), models=(desk.MODEL, desk.JUDGE)) as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, hook_repo: ScratchRepo, server: ChatServer) -> ScratchRepo:
    """A project with an agreed baseline, a remote, and the hooks as `init` writes them."""
    repo = desk.project(tmp_path / "project", server.base_url)
    source = Source(Origin(f"file://{hook_repo.path}", hook_repo.head()), None)
    repo.git("rm", "-q", "packs/care.yaml")
    repo.commit("hooks, and one pack", {HOOKS_PATH: project_texts(Server(), source, 1)[HOOKS_PATH]})
    assert touchstone(repo.path, "measure", "-q").code == ExitCode.NOTHING_WORSE
    run = desk.run_ids(repo)[0]
    assert touchstone(repo.path, "promote", run, "--here", "--allow-single").code == ExitCode.NOTHING_WORSE
    repo.git("init", "-q", "--bare", str(tmp_path / "home.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "home.git"))
    repo.git("push", "-q", "-u", "origin", "main")
    repo.git("switch", "-qc", "edit")
    return repo


def run(repo: ScratchRepo, *command: str) -> subprocess.CompletedProcess[str]:
    """A command as a person gives it, with pre-commit's own cache in the test's folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PRE_COMMIT"))}
    told = {"PRE_COMMIT_HOME": str(repo.path.parent / "pre-commit"), "GIT_CONFIG_GLOBAL": os.devnull}
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    return subprocess.run(
        command, cwd=repo.path, env=kept | told | {"PATH": path}, capture_output=True, text=True, check=False
    )


@pytest.mark.e2e
def test_pre_commit_holds_a_bad_pack_back_and_a_worse_prompt_from_being_pushed(
    project: ScratchRepo, server: ChatServer
) -> None:
    installed = run(project, "pre-commit", "install", "--install-hooks", "-t", "pre-commit", "-t", "pre-push")
    assert installed.returncode == 0, installed.stdout + installed.stderr

    pack = project.path / "packs" / "desk.yaml"
    good = pack.read_text()
    pack.write_text(good.replace("id: A2,", "id: A1,"))
    project.git("add", "packs")
    asked = len(server.requests)
    refused = run(project, "git", "commit", "-m", "twice")
    assert refused.returncode == 1
    assert "packs/desk.yaml:12:" in refused.stdout + refused.stderr
    assert "exit code: 4" in refused.stdout + refused.stderr
    assert len(server.requests) == asked, "a commit asks no model"

    pack.write_text(good)
    project.git("add", "packs")
    (project.path / "prompts" / "house.md").write_text(desk.WORSE_PROMPT)
    project.git("add", "prompts")
    (project.path / "prompts" / "house.md").rename(project.path / "away")
    deleted = run(project, "git", "commit", "-a", "-m", "no prompt")
    assert deleted.returncode == 1
    assert "packs/desk.yaml" in deleted.stdout + deleted.stderr
    assert "house.md" in deleted.stdout + deleted.stderr
    (project.path / "away").rename(project.path / "prompts" / "house.md")
    project.git("add", "prompts")
    committed = run(project, "git", "commit", "-m", "at once")
    assert committed.returncode == 0, committed.stdout + committed.stderr
    assert "prompt changed, baseline stale" in committed.stdout + committed.stderr

    stopped = run(project, "git", "push", "origin", "edit")
    told = stopped.stdout + stopped.stderr
    assert stopped.returncode == 1, told
    assert "desk: WORSE (a check that always passed fails) · 4 worse" in told
    assert "exit code: 1" in told
    assert "edit" not in project.git("ls-remote", "--heads", "origin")

    (project.path / "prompts" / "house.md").write_text(desk.PROMPT + "Thank you.\n")
    project.git("add", "prompts")
    assert run(project, "git", "commit", "-m", "thanks").returncode == 0
    pushed = run(project, "git", "push", "origin", "edit")
    assert pushed.returncode == 0, pushed.stdout + pushed.stderr
    assert "edit" in project.git("ls-remote", "--heads", "origin")
