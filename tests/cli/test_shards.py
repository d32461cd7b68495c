"""Shards from the command line: what several machines measured is judged as the one run it is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer
from tests.kit.cli import Done, touchstone
from tests.kit.scratch import ScratchRepo
from tests.kit.timeless import without_times
from touchstone.errors import ExitCode


def ok(done: Done) -> Done:
    assert done.code == ExitCode.NOTHING_WORSE, done.out + done.err
    return done


def new_runs(repo: ScratchRepo, before: list[str]) -> list[str]:
    return [run for run in desk.run_ids(repo) if run not in before]


def measured(repo: ScratchRepo, verb: str, *args: str) -> str:
    """The run a command made."""
    before = desk.run_ids(repo)
    ok(touchstone(repo.path, verb, "-q", *args))
    (run,) = new_runs(repo, before)
    return run


def result(repo: ScratchRepo, run: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((repo.path / "runs" / run / "result.json").read_text())
    return value


def questions(server: ChatServer) -> set[str]:
    """Every different question the model was asked."""
    return {json.dumps(chat.body["messages"]) for chat in server.chats if chat.body["model"] == desk.MODEL}


def test_three_shards_merged_equal_the_unsharded_run(repo: ScratchRepo, server: ChatServer) -> None:
    whole = measured(repo, "measure", "--pack", "care")
    asked = questions(server)
    shards = [measured(repo, "measure", "--pack", "care", "--shard", f"{n}/3") for n in (1, 2, 3)]
    merged = ok(touchstone(repo.path, "merge", *shards))
    (run,) = [line for line in merged.out.splitlines() if "_care_" in line and line in desk.run_ids(repo)]
    assert run not in shards
    assert without_times(result(repo, run)) == without_times(result(repo, whole))
    assert f"→ touchstone compare {run}\n" in merged.err
    assert "identical answers in 3 of 3 rows" in ok(touchstone(repo.path, "compare", whole, run)).out
    assert questions(server) == asked, "no question but those of the pack"


def test_answers_alone_are_merged_and_judged_afterwards(repo: ScratchRepo) -> None:
    shards = [measured(repo, "eval", "--pack", "care", "--shard", f"{n}/2") for n in (1, 2)]
    merged = ok(touchstone(repo.path, "merge", *shards))
    run = merged.out.splitlines()[0]
    assert f"→ touchstone judge --bundle {run}\n" in merged.err
    ok(touchstone(repo.path, "judge", "--bundle", run))
    assert result(repo, run)["cells"][0]["quality"]["pct"] == 85


def test_what_is_missing_is_named_with_exit_4(repo: ScratchRepo) -> None:
    first = measured(repo, "measure", "--pack", "desk", "--shard", "1/3")
    done = touchstone(repo.path, "merge", first)
    assert done.code == ExitCode.REFUSED
    assert "shard 2/3 is missing" in done.err
    assert "shard 3/3 is missing" in done.err
    assert desk.run_ids(repo) == [first]


def test_a_shard_is_never_promoted_and_its_merge_may_be(repo: ScratchRepo) -> None:
    before = desk.run_ids(repo)
    for number in (1, 2):
        ok(touchstone(repo.path, "measure", "--pack", "desk", "--times", "3", "--shard", f"{number}/2", "-q"))
    shards = new_runs(repo, before)
    listed = ok(touchstone(repo.path, "list")).out.splitlines()
    # Runs of one second come in any order.
    assert any(line.startswith(f"{shard}  draw 0  shard 1/2  ") for shard in shards for line in listed)
    refused = touchstone(repo.path, "promote", *shards[:3], "--here")
    assert refused.code == ExitCode.REFUSED
    assert "shard 1/2 of a run" in refused.err
    assert "touchstone merge SHARD…" in refused.err
    ok(touchstone(repo.path, "merge", *shards))
    merged = new_runs(repo, [*before, *shards])
    assert len(merged) == 3, "each draw is a run of its own"
    ok(touchstone(repo.path, "promote", *merged, "--here"))


def test_a_check_shared_by_two_machines_says_what_one_says(repo: ScratchRepo, tmp_path: Path) -> None:
    ok(touchstone(repo.path, "measure", "--pack", "desk", "-q"))
    ok(touchstone(repo.path, "promote", *desk.run_ids(repo), "--here", "--allow-single"))
    repo.git("switch", "-qc", "edit")
    repo.commit("worse", {"prompts/house.md": "You are a desk.\nBe brief.\n"})
    before = desk.run_ids(repo)
    alone = touchstone(repo.path, "check", "--pack", "desk", "-q")
    assert alone.code == ExitCode.WORSE
    (run,) = new_runs(repo, before)
    before = desk.run_ids(repo)
    for number in (1, 2):
        done = ok(touchstone(repo.path, "check", "--pack", "desk", "--shard", f"{number}/2", "-q"))
        assert f"Pack desk: shard {number}/2 is measured and judged" in done.out
        assert "WORSE" not in done.out, "a share has no verdict"
    fetched = tmp_path / "fetched"
    for number, shard in enumerate(new_runs(repo, before), start=1):
        shutil.move(repo.path / "runs" / shard, fetched / f"touchstone-shard-{number}")
    shared = touchstone(repo.path, "check", "--merge", str(fetched), "-q")
    assert shared.code == ExitCode.WORSE
    (merged,) = new_runs(repo, before)
    assert shared.out.replace(merged, run) == alone.out
    ended = touchstone(repo.path, "check", "--merge", str(tmp_path / "empty"))
    assert ended.code == ExitCode.REFUSED


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        (("measure", "--shard", "4/3"), ExitCode.USAGE, "is no shard: write 1/3, 2/3 and 3/3"),
        (("measure", "--pack", "desk", "--shard", "1/9"), ExitCode.REFUSED, "Use at most 5."),
        (("check", "--merge", "x", "--shard", "1/2"), ExitCode.USAGE, "--merge goes on with a run"),
        (("check", "--merge", "x", "--resume", "y"), ExitCode.USAGE, "--merge and --resume each name"),
        (("check", "--merge", "packs"), ExitCode.REFUSED, "packs: no run in this folder"),
        (("merge",), ExitCode.USAGE, "Missing argument"),
        (("merge", "nothing-there"), ExitCode.REFUSED, "no such run"),
    ],
)
def test_what_makes_no_sense_is_refused(
    repo: ScratchRepo, flags: tuple[str, ...], code: ExitCode, words: str
) -> None:
    done = touchstone(repo.path, *flags)
    assert done.code == code, done.err
    assert words in done.err
