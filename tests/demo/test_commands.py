"""The story's commands are shown as typed, run for real, and stop the story when they fail."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from touchstone.demo.commands import Commands
from touchstone.demo.story import run_demo
from touchstone.errors import BadInputError, NotJudgedError


@pytest.fixture
def heard() -> list[str]:
    return []


@pytest.fixture
def commands(tmp_path: Path, heard: list[str]) -> Commands:
    # What a hook leaves behind would make every git call here act on another repository.
    environ = os.environ | {"GIT_DIR": str(tmp_path / "elsewhere"), "HOME": str(tmp_path)}
    return Commands(tmp_path, heard.append, environ)


def test_a_command_is_echoed_with_what_it_says(commands: Commands, heard: list[str]) -> None:
    commands.git("init", "--template", "no such folder")
    assert heard[0] == "$ git init --template 'no such folder'"
    assert heard[-1].startswith("Initialized empty Git repository in ")


def test_touchstone_is_the_one_that_runs_the_story(commands: Commands, heard: list[str]) -> None:
    assert commands.touchstone("--version") == 0
    assert heard[0] == "$ touchstone --version"
    assert heard[1].startswith("touchstone, version ")


def test_an_unexpected_exit_code_stops_the_story(
    commands: Commands, heard: list[str], tmp_path: Path
) -> None:
    with pytest.raises(NotJudgedError, match=r"`touchstone nosuchverb` ended with exit code 64") as caught:
        commands.touchstone("nosuchverb")
    assert caught.value.hint == f"What it left is in {tmp_path}"
    assert any("nosuchverb" in line for line in heard[1:])


def test_an_expected_exit_code_is_returned(commands: Commands) -> None:
    assert commands.touchstone("nosuchverb", expected={64}) == 64


def test_unseen_git_says_nothing_unless_it_fails(commands: Commands, heard: list[str]) -> None:
    commands.git_unseen("init", "--quiet")
    assert heard == []
    with pytest.raises(NotJudgedError, match="`git switch nowhere` failed: fatal"):
        commands.git_unseen("switch", "nowhere")


def test_demo_writes_over_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(BadInputError, match="is not an empty folder"):
        run_demo(tmp_path, True, pytest.fail, os.environ)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_demo_without_git_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInputError, match="needs git"):
        run_demo(tmp_path / "story", True, pytest.fail, os.environ)
    assert not (tmp_path / "story").exists()
