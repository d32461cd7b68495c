"""The demo as a person runs it: a real model, real git, real verbs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.kit.engine import cache_with_model
from touchstone.demo import engine

pytestmark = pytest.mark.engine

EXPECTED_COMMANDS = [
    "touchstone engine start",
    "git add",
    "git commit",
    "touchstone measure --pack packs/starter.yaml --times 3",
    "touchstone select",
    "touchstone promote",
    "git log",
    "git switch",
    "git diff",
    "git commit",
    "touchstone check --pack packs/starter.yaml",
    "touchstone show",
    "touchstone report",
    "touchstone report",
]


class Story:
    """A finished demo: its folder and all it printed."""

    def __init__(self, folder: Path, said: str) -> None:
        self.folder = folder
        self.said = said

    def results(self) -> list[dict[str, Any]]:
        """The runs' results, oldest first."""
        return [json.loads(path.read_text()) for path in sorted(self.folder.glob("runs/*/result.json"))]

    def git(self, *arguments: str) -> str:
        """What git says in the story's repository."""
        environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=environ, capture_output=True, text=True, check=True
        )
        return done.stdout


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    caches = tmp_path_factory.mktemp("caches")
    cache = cache_with_model(caches / "touchstone")
    folder = tmp_path_factory.mktemp("demo") / "story"
    done = subprocess.run(
        [sys.executable, "-m", "touchstone", "demo", "--into", str(folder)],
        env=os.environ | {"XDG_CACHE_HOME": str(caches)},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert engine.status(cache) is None, "the demo ends the engine it started"
    return Story(folder, done.stdout)


def test_every_step_is_a_command_a_person_can_type(story: Story) -> None:
    commands = re.findall(r"^\$ (.*)$", story.said, re.MULTILINE)
    assert len(commands) == len(EXPECTED_COMMANDS)
    assert [c for c, start in zip(commands, EXPECTED_COMMANDS, strict=True) if not c.startswith(start)] == []


def test_it_names_engine_build_and_model_and_real_files(story: Story) -> None:
    assert re.search(
        r"^Engine: llama\.cpp, build \S+, model smollm2-135m-instruct\.", story.said, re.MULTILINE
    )
    listed = re.findall(r"^  (\S+)  ", story.said.partition(f"Look at, in {story.folder}:")[2], re.MULTILINE)
    assert len(listed) == 6
    assert [path for path in listed if not (story.folder / path).is_file()] == []


def test_three_launches_stand_behind_the_baseline(story: Story) -> None:
    launches = {result["run"]["launch"] for result in story.results()[:3]}
    assert len(launches) == 3
    assert None not in launches
    baseline = json.loads((story.folder / "baselines/default/starter.json").read_text())
    assert len(baseline["runs"]) == 3
    assert story.git("log", "--format=%s", "--name-only", "main", "-1").split("\n")[2:] == [
        "baselines/default/starter.json",
        "",
    ]


def test_model_passes_the_pack_in_part(story: Story) -> None:
    (cell,) = story.results()[0]["cells"]
    checks = cell["quality"]["checks"]
    assert checks["of"] == 17
    assert 0.4 <= checks["passed"] / checks["of"] <= 0.8


def test_the_small_edit_loses_a_fact_that_is_still_in_the_prompt(story: Story) -> None:
    assert "20 cents a day" in story.git("show", "shorter-prompt:prompts/assistant.md")
    (comparison,) = [json.loads(path.read_text()) for path in story.folder.glob("runs/*/comparison.json")]
    states = {row["prompt"]: row["state"] for row in comparison["rows"]}
    assert states["late-fee"] == "worse"
    assert comparison["status"] == "worse"
    assert "(exit code 1)" in story.said


def test_a_stopped_story_leaves_no_engine_and_no_folder(tmp_path: Path) -> None:
    cache = cache_with_model(tmp_path / "caches" / "touchstone")
    command = [sys.executable, "-m", "touchstone", "demo", "--into", str(tmp_path / "story"), "--no-keep"]
    environ = os.environ | {"XDG_CACHE_HOME": str(cache.parent), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout is not None
        assert any(line.startswith("run 1 of 3") for line in demo.stdout), "it got as far as asking"
        demo.send_signal(signal.SIGTERM)
        demo.communicate(timeout=30)
    assert demo.returncode == 130
    assert engine.status(cache) is None
    assert not (tmp_path / "story").exists()


def test_it_leaves_a_clean_tree(story: Story) -> None:
    assert story.git("status", "--porcelain") == ""


def test_it_shows_the_comment_that_a_pull_request_would_get(story: Story) -> None:
    told = story.said.split("--format comment")[1].split("The whole of it as a page")[0]
    assert re.search(r"^\s*## \S+ starter: ", told, re.MULTILINE)
    assert "```diff" in told
