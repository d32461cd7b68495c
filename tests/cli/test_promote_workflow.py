"""The scripts of the promotion's workflow, as a runner gives them to bash: they open the pull request."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.kit import desk
from tests.kit.cli import environment
from tests.kit.fake_github import FakeGitHub
from tests.kit.runner import Home
from tests.kit.scratch import ScratchRepo
from touchstone.demo.origin import NOWHERE
from touchstone.demo.project import PROMOTE_PATH, Server, Source, project_texts

WORKFLOW = yaml.safe_load(project_texts(Server(), Source(NOWHERE, None), 1)[PROMOTE_PATH])
STEPS: list[dict[str, Any]] = WORKFLOW["jobs"]["promote"]["steps"]
REASON = 'it\'s wanted; $(touch pwned) `touch pwned` "x"'


def script(name: str) -> str:
    (found,) = [step["run"] for step in STEPS if step.get("name") == name]
    return str(found)


@pytest.fixture
def temp(tmp_path: Path) -> Path:
    """The runner's temporary folder, with touchstone where the workflow installs it."""
    folder = tmp_path / "runner's temp"
    command = folder / "touchstone" / "bin" / "touchstone"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m touchstone "$@"\n')
    command.chmod(0o755)
    return folder


def bash(repo: ScratchRepo, temp: Path, text: str, env: Mapping[str, str]) -> str:
    """Run a step as GitHub does where it names no shell; nothing the script needs may be unset."""
    told = environment(repo.path.parent) | {"RUNNER_TEMP": str(temp), "CI": "true"} | dict(env)
    file = temp / "step.sh"
    file.write_text(text)
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eu", str(file)],
        cwd=repo.path, env=told, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("restart", ["", "sh -c 'echo again >> restarted'"])
def test_three_runs_become_a_pull_request(
    home: Home, temp: Path, github: FakeGitHub, restart: str, tmp_path: Path
) -> None:
    github.branches |= {"main", "touchstone/promote/default-desk"}
    checkout = home.checkout(home.source.head())
    checkout.git("switch", "-qc", "main")
    bash(checkout, temp, script("Three runs"), {"PACK": "desk", "RESTART": restart})
    assert len(list((temp / "runs").glob("2*"))) == 3
    again = checkout.path / "restarted"
    assert (again.read_text().count("again") if again.exists() else 0) == (2 if restart else 0)
    again.unlink(missing_ok=True)
    told = {"REASON": REASON if restart else "", **github.environment()}
    out = bash(checkout, temp, script("The typical one as a pull request"), told)
    (pull,) = [pull for pull in github.pulls.values() if pull["head"]["ref"].startswith("touchstone/")]
    assert pull["html_url"] in out
    assert home.bare.git("diff", "--name-only", "main", pull["head"]["ref"]).split() == [
        "baselines/default/desk.json"
    ]
    kept = home.bare.git("show", f"{pull['head']['ref']}:baselines/default/desk.json")
    assert ("it's wanted; $(touch pwned)" in kept) is bool(restart)
    assert not list(tmp_path.rglob("pwned"))


def test_nothing_of_an_input_stands_in_a_script() -> None:
    assert [step["run"] for step in STEPS if "${{" in step.get("run", "")] == []
    assert "<" not in "".join(step.get("run", "") for step in STEPS)


def test_the_token_is_made_when_it_is_needed_and_nobody_else_sees_it() -> None:
    names = [step.get("name") or step.get("id") or step["uses"] for step in STEPS]
    assert names.index("Three runs") < names.index("app") < names.index("The typical one as a pull request")
    with_token = [step for step in STEPS if "token" in str(step.get("env", ""))]
    assert [step["name"] for step in with_token] == ["The typical one as a pull request"]
    assert desk.MODEL not in str(WORKFLOW)
