"""A pull request's check shared by several machines: shards say no verdict, their merge says it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.kit import desk
from tests.kit.fake_github import FakeGitHub
from tests.kit.runner import NUMBER, Done, Files, Home, Pull, Runner
from touchstone.errors import ExitCode

PROMPT_FILE = "prompts/house.md"
SHARD, MERGE = "TOUCHSTONE_INPUT_SHARD", "TOUCHSTONE_INPUT_MERGE"


def shards(home: Home, runner: Runner, pull: Pull, folder: Path, *numbers: int) -> list[Done]:
    """Each number's job of three, its run laid where the artifacts of all are fetched into."""
    ended = []
    for number in numbers:
        done = runner.run(home.checkout(pull.merge), pull.event(), env={SHARD: f"{number}/3"})
        assert done.code == ExitCode.NOTHING_WORSE, done.out + done.err
        if done.outputs["run"]:
            shutil.copytree(done.outputs["run"], folder / f"touchstone-shard-{number}")
        ended.append(done)
    return ended


def merged(home: Home, runner: Runner, pull: Pull, folder: Path) -> Done:
    return runner.run(home.checkout(pull.merge), pull.event(), env={MERGE: str(folder)})


def test_shards_are_silent_and_their_merge_is_the_verdict(
    home: Home, runner: Runner, github: FakeGitHub, tmp_path: Path
) -> None:
    pull = home.pull_request({PROMPT_FILE: desk.WORSE_PROMPT})
    for number, done in enumerate(shards(home, runner, pull, tmp_path / "shards", 1, 2, 3), start=1):
        assert (done.outputs["exit-code"], done.outputs["verdict"]) == ("0", "shard")
        assert done.outputs["headline"].startswith(f"Pack desk: shard {number}/3 is measured and judged")
        assert f"shard {number}/3 is measured" in done.summary.replace("\\", "")
        assert done.annotations == []
        assert not (Path(done.outputs["run"]) / "comparison.json").exists()
    assert github.bodies(NUMBER) == []
    done = merged(home, runner, pull, tmp_path / "shards")
    assert done.code == ExitCode.WORSE
    assert done.outputs["headline"] == "desk: WORSE (a check that always passed fails) · 4 worse"
    (body,) = github.bodies(NUMBER)
    assert "80.0 % → 10.0 %" in body


def test_a_shard_that_failed_keeps_the_check_from_passing(
    home: Home, runner: Runner, github: FakeGitHub, tmp_path: Path
) -> None:
    pull = home.pull_request({PROMPT_FILE: desk.OTHER_PROMPT})
    shards(home, runner, pull, tmp_path / "shards", 1, 3)
    done = merged(home, runner, pull, tmp_path / "shards")
    assert (done.code, done.outputs["verdict"]) == (ExitCode.REFUSED, "refused")
    assert "shard 2/3 is missing" in done.err
    assert "shard 2/3 is missing" in github.bodies(NUMBER)[0]
    nothing = merged(home, runner, pull, tmp_path / "nothing")
    assert nothing.code == ExitCode.REFUSED


def test_shards_of_another_commit_are_not_this_change(home: Home, runner: Runner, tmp_path: Path) -> None:
    before = home.pull_request({PROMPT_FILE: desk.OTHER_PROMPT})
    shards(home, runner, before, tmp_path / "shards", 1, 2, 3)
    pull = home.pushed_again(before, {PROMPT_FILE: desk.WORSE_PROMPT})
    done = merged(home, runner, pull, tmp_path / "shards")
    assert done.code == ExitCode.REFUSED
    assert f"made at commit {before.merge}, and this job is at {pull.merge}" in done.err


def test_a_promotion_with_its_prompt_is_seen_beside_merged_shards(
    home: Home, runner: Runner, promotions: dict[str, Files], tmp_path: Path
) -> None:
    pull = home.pull_request({PROMPT_FILE: desk.WORSE_PROMPT, **promotions["worse"]})
    shards(home, runner, pull, tmp_path / "shards", 1, 2, 3)
    done = merged(home, runner, pull, tmp_path / "shards")
    assert (done.code, done.outputs["verdict"]) == (ExitCode.NOTHING_WORSE, "promotion")


def test_a_change_of_baselines_alone_needs_no_shards(
    home: Home, runner: Runner, promotions: dict[str, Files], tmp_path: Path
) -> None:
    pull = home.pull_request(promotions["same"])
    (done,) = shards(home, runner, pull, tmp_path / "shards", 1)
    assert (done.outputs["verdict"], done.outputs["run"]) == ("promotion", "")
    done = merged(home, runner, pull, tmp_path / "shards")
    assert (done.code, done.outputs["verdict"]) == (ExitCode.NOTHING_WORSE, "promotion")


@pytest.mark.parametrize("both", [{SHARD: "1/3"}, {"TOUCHSTONE_INPUT_PACKS": "desk"}])
def test_merging_takes_no_flag_of_a_start(
    home: Home, runner: Runner, both: dict[str, str], tmp_path: Path
) -> None:
    pull = home.pull_request({PROMPT_FILE: desk.OTHER_PROMPT})
    done = runner.run(home.checkout(pull.merge), pull.event(), env={MERGE: str(tmp_path), **both})
    assert done.code == ExitCode.USAGE
    assert "--merge goes on with a run as it was started" in done.err
