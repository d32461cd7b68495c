"""`touchstone judge --reuse-verdicts` through the real command line: what it saves, and what it says."""

from __future__ import annotations

import json
from typing import Any

from tests.kit import desk
from tests.kit.chat_server import ChatServer
from tests.kit.cli import Done, touchstone
from tests.kit.scratch import ScratchRepo
from touchstone.errors import ExitCode


def ok(done: Done) -> Done:
    assert done.code == ExitCode.NOTHING_WORSE, done.out + done.err
    return done


def two_variants(repo: ScratchRepo) -> None:
    """The judged pack under a second system prompt as well."""
    pack = repo.path / "packs/care.yaml"
    before = "prompt_variants:\n"
    text = pack.read_text()
    assert text.count(before) == 1
    pack.write_text(text.replace(before, f"{before}  - {{id: plain, system_prompt: Answer carefully.}}\n"))


def asked_of_judge(server: ChatServer) -> int:
    """Requests about an answer; the judge's self-test is none."""
    return sum(
        chat.body["model"] == desk.JUDGE and "The answer to grade" in chat.body["messages"][-1]["content"]
        for chat in server.chats
    )


def new_run(repo: ScratchRepo, *args: str) -> str:
    before = set(desk.run_ids(repo))
    ok(touchstone(repo.path, *args, "-q"))
    (new,) = set(desk.run_ids(repo)) - before
    return new


def result_of(repo: ScratchRepo, run: str) -> Any:
    return json.loads((repo.path / "runs" / run / "result.json").read_text())


def test_only_the_variant_that_was_touched_is_judged(repo: ScratchRepo, server: ChatServer) -> None:
    two_variants(repo)
    old = new_run(repo, "measure", "--pack", "care")
    whole = asked_of_judge(server)
    (repo.path / "prompts/house.md").write_text(desk.WORSE_PROMPT)
    new = new_run(repo, "eval", "--pack", "care")
    file = f"runs/{old}/judgements.jsonl"
    done = ok(touchstone(repo.path, "judge", "--bundle", new, "--reuse-verdicts", file, "-q"))
    assert (whole, asked_of_judge(server) - whole) == (6, 3)
    assert "Verdicts reused from another run: 3. To be compared, never promoted." in done.out
    assert "reused from another run: 3" in (repo.path / "runs" / new / "report.md").read_text()
    result = result_of(repo, new)
    assert result["run"]["reused_verdicts"] == 3
    assert {cell["variant"]: cell["usage"]["judge_calls"] for cell in result["cells"]} == {
        "plain": 0,
        "house": 3,
    }


def test_a_run_with_reused_verdicts_is_never_promoted(repo: ScratchRepo) -> None:
    old = new_run(repo, "measure", "--pack", "care")
    runs = [new_run(repo, "eval", "--pack", "care") for _ in range(3)]
    for run in runs:
        ok(touchstone(repo.path, "judge", "--bundle", run, "--reuse-verdicts", old, "-q"))
    done = touchstone(repo.path, "promote", *runs, "--here")
    assert done.code == ExitCode.REFUSED
    assert "3 verdicts taken from another run" in done.err
    assert not list(repo.path.glob("baselines/**/*.json"))


def test_the_label_is_said_in_german(repo: ScratchRepo) -> None:
    old = new_run(repo, "measure", "--pack", "care")
    new = new_run(repo, "eval", "--pack", "care")
    done = ok(
        touchstone(repo.path, "judge", "--bundle", new, "--reuse-verdicts", old, "--language", "de", "-q")
    )
    assert "Aus einem anderen Lauf übernommene Urteile: 3." in done.out


def test_verdicts_of_another_judge_are_refused(repo: ScratchRepo) -> None:
    old = new_run(repo, "measure", "--pack", "care")
    new = new_run(repo, "eval", "--pack", "care", "--judge-model", desk.MODEL)
    done = touchstone(
        repo.path, "judge", "--bundle", new, "--reuse-verdicts", old, "--judge-model", desk.MODEL, "-q"
    )
    assert done.code == ExitCode.REFUSED
    assert f"{old} was not judged by the judge of {new}: none of its verdicts can be reused" in done.err
    assert f"Judge without them: touchstone judge --bundle {new}" in done.err
