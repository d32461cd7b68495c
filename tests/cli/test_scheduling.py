"""How a run asks, seen from the server: one model after another, so many at once, nothing from a cache."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer, Script, answer
from tests.kit.cli import Done, touchstone
from tests.kit.scratch import ScratchRepo
from touchstone.errors import ExitCode

SECOND = "second-model"


def ok(done: Done) -> Done:
    assert done.code == ExitCode.NOTHING_WORSE, done.out + done.err
    return done


def checks_pack(prompts: int, *, repeats: int = 1, temperature: float = 0.0) -> str:
    """A pack of so many questions; the answer must have a letter."""
    check = "[{type: regex, pattern: '[A-Za-z]'}]"
    lines = [
        f'      - {{id: P{n}, prompt: "question {n}?", repeats: {repeats}, checks: {check}}}'
        for n in range(prompts)
    ]
    head = (
        "schema: 1\nid: many\nversion: 1\ntitle: Many\nprompt_variants: [{id: none, system_prompt: null}]\n"
        f"sampling: {{temperature: {temperature}, seed: 42}}\n"
        "categories:\n  - id: P\n    name: P\n    prompts:\n"
    )
    return head + "\n".join(lines) + "\n"


def judged_pack(prompts: int) -> str:
    """The judged pack with more questions, so that several are in flight."""
    more = [f'      - {{id: D{n}, prompt: "more {n}?", tests: anything}}' for n in range(prompts)]
    return desk.CARE_PACK + "\n".join(more) + "\n"


def the_result(repo: ScratchRepo, run: str) -> Any:
    return json.loads((repo.path / "runs" / run / "result.json").read_text())


def responses(repo: ScratchRepo, run: str) -> list[Any]:
    text = (repo.path / "runs" / run / "responses.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("concurrency", [1, 8])
def test_two_models_and_a_judge_are_three_switches(
    repo: ScratchRepo, server: ChatServer, concurrency: int
) -> None:
    repo.write("packs/care.yaml", judged_pack(13))
    server.service_s = 0.005
    models = ("--model", desk.MODEL, "--model", SECOND)
    ok(touchstone(repo.path, "measure", "--pack", "care", "-q", *models, "--concurrency", str(concurrency)))
    (run,) = desk.run_ids(repo)
    assert len(the_result(repo, run)["rows"]) == 32
    order = list(dict.fromkeys(chat.body["model"] for chat in server.chats))
    assert order == [desk.MODEL, SECOND, desk.JUDGE]
    assert server.model_switches == 3
    assert server.most_in_flight == concurrency


def test_eight_are_kept_in_flight(tmp_path: Path) -> None:
    at_work: list[int] = []

    def say(_body: dict[str, Any]) -> Script:
        at_work.append(server.in_flight)
        return answer("yes", model=desk.MODEL)

    with ChatServer(say, models=(desk.MODEL,), service_s=0.02) as server:
        repo = desk.project(tmp_path / "project", server.base_url)
        repo.write("packs/many.yaml", checks_pack(400))
        ok(touchstone(repo.path, "eval", "--pack", "many", "-q", "--concurrency", "8"))
    # The first is the preflight; while the last ones leave, fewer are left.
    assert len(at_work) == 401
    assert max(at_work) == 8
    # A server on the same busy cores counts some of them late.
    assert median(at_work) >= 6


def test_T08_requests_are_serial_by_default_and_a_crash_is_one_clear_summary(
    repo: ScratchRepo, server: ChatServer, mind: desk.Mind
) -> None:
    mind.dies_after = 3  # the preflight and two answers
    done = touchstone(repo.path, "measure", "--pack", "desk", "-q")
    assert done.code == ExitCode.NOT_JUDGED
    assert done.err.count("the engine stopped answering: 3 requests in a row failed") == 1
    (run,) = desk.run_ids(repo)
    assert [line["status"] for line in responses(repo, run)] == ["ok", "ok", "error", "error", "error"]
    assert {line["error"]["class"] for line in responses(repo, run)[2:]} == {"transport"}
    assert server.most_in_flight == 1


def test_T12_a_silent_answer_is_an_error_row_and_the_run_goes_on(tmp_path: Path) -> None:
    def say(body: dict[str, Any]) -> Script:
        if "two?" in body["messages"][-1]["content"]:
            return Script(answer("TWO, and then").chunks[:2], ending="hang")
        return answer("ONE THREE FIVE", model=desk.MODEL)

    with ChatServer(say, models=(desk.MODEL,)) as server:
        repo = desk.project(tmp_path / "project", server.base_url)
        settings = repo.path / "touchstone.yaml"
        settings.write_text(settings.read_text().replace("retries: 0", "retries: 0, idle_s: 0.5"))
        done = touchstone(repo.path, "measure", "--pack", "desk", "-q")
    assert done.code == ExitCode.NOTHING_WORSE, "one row of five"
    assert "1 error" in done.out.splitlines()[1]
    (run,) = desk.run_ids(repo)
    found = {line["prompt"]: line for line in responses(repo, run)}
    assert len(found) == 5
    assert found["A2"]["error"]["class"] == "timeout_idle"
    assert found["A2"]["response_text"] == "TWO,", "kept as partial"
    rows = {row["prompt"]: row for row in the_result(repo, run)["rows"]}
    assert (rows["A2"]["state"], rows["A2"]["pct"]) == ("error", None)


@pytest.fixture
def talking(tmp_path: Path) -> Iterator[Callable[[Callable[[dict[str, Any]], str]], ScratchRepo]]:
    """A project whose model says what a function of the request says."""
    running: list[ChatServer] = []

    def project(say: Callable[[dict[str, Any]], str]) -> ScratchRepo:
        server = ChatServer(lambda body: answer(say(body), model=desk.MODEL), models=(desk.MODEL,))
        running.append(server.__enter__())
        return desk.project(tmp_path / "project", server.base_url)

    yield project
    for server in running:
        server.close()


def test_E01_a_seed_is_recorded_as_requested_and_an_engine_that_ignores_it_is_named(
    talking: Callable[..., ScratchRepo],
) -> None:
    asked: list[int] = []

    def say(body: dict[str, Any]) -> str:
        asked.append(body["seed"])
        return f"answer number {len(asked)}"  # whatever the seed

    repo = talking(say)
    repo.write("packs/many.yaml", checks_pack(2, repeats=2, temperature=0.8))
    done = ok(touchstone(repo.path, "measure", "--pack", "many", "-q"))
    assert "the engine ignores the seed" in done.err
    (run,) = desk.run_ids(repo)
    block = json.loads((repo.path / "runs" / run / "blocks.jsonl").read_text())
    assert block["seed"] == "ignored"
    assert [line["seed"] for line in responses(repo, run)] == [42, 43, 42, 43]
    assert the_result(repo, run)["provenance"]["seed"] == 42
    assert "seeded" not in (repo.path / "runs" / run / "report.md").read_text()


def test_E01_own_a_seed_that_is_honoured_is_recorded_too(talking: Callable[..., ScratchRepo]) -> None:
    repo = talking(lambda body: f"number {body['seed']}")
    repo.write("packs/many.yaml", checks_pack(1, repeats=2, temperature=0.8))
    done = ok(touchstone(repo.path, "measure", "--pack", "many", "-q"))
    assert "ignores the seed" not in done.err
    (run,) = desk.run_ids(repo)
    assert json.loads((repo.path / "runs" / run / "blocks.jsonl").read_text())["seed"] == "honoured"


def test_E03_other_words_of_the_same_worth_are_not_worse(talking: Callable[..., ScratchRepo]) -> None:
    asked: list[str] = []

    def say(body: dict[str, Any]) -> str:
        asked.append(body["messages"][-1]["content"])
        word = re.sub(r"\W", "", asked[-1]).upper()
        return f"{word}, said in way {len(asked)}"

    repo = talking(say)
    ok(touchstone(repo.path, "measure", "--pack", "desk", "--times", "3", "-q"))
    ok(touchstone(repo.path, "promote", *desk.run_ids(repo), "--here"))
    ok(touchstone(repo.path, "measure", "--pack", "desk", "-q"))
    comparison = ok(touchstone(repo.path, "compare", "latest", "--json")).json()
    assert comparison["counts"]["worse"] == 0
    (cell,) = comparison["cells"]
    assert cell["identical"] == 0, "not one answer is the same"
    assert cell["interval"] is not None, "the difference stands with its band"
    assert cell["interval"][0] <= 0 <= cell["interval"][1]


def test_E09_a_measured_run_asks_everything_anew(repo: ScratchRepo, server: ChatServer) -> None:
    ok(touchstone(repo.path, "measure", "--pack", "desk", "-q"))
    first = len(server.chats)
    ok(touchstone(repo.path, "measure", "--pack", "desk", "-q"))
    bodies = [chat.body for chat in server.chats]
    assert bodies[first:] == bodies[:first], "the same questions, and every one of them was sent"
    assert first == 6, "the preflight and five prompts"


def times_of(repo: ScratchRepo, run: str) -> dict[str, Any]:
    """The cell's times. Of the memory, the machine's ticks nearest to so short a run may come later."""
    perf = the_result(repo, run)["cells"][0]["perf"]
    assert perf["e2e_med"] >= 0.03
    return {name: value for name, value in perf.items() if not name.endswith("_gb")}


def test_E11_times_are_those_of_real_calls(repo: ScratchRepo, server: ChatServer) -> None:
    server.service_s = 0.03
    ok(touchstone(repo.path, "measure", "--pack", "care", "-q"))
    (run,) = desk.run_ids(repo)
    assert all(line["ttft_s"] >= 0.03 for line in responses(repo, run))
    perf, asked = times_of(repo, run), len(server.chats)
    ok(touchstone(repo.path, "measure", "--resume", run, "-q"))
    (repo.path / "runs" / run / "result.json").unlink()
    ok(touchstone(repo.path, "judge", "--bundle", run, "-q"))
    assert times_of(repo, run) == perf
    assert {chat.body["model"] for chat in server.chats[asked:]} <= {desk.JUDGE}


def test_E11_own_overlapping_requests_have_no_time_of_their_own(repo: ScratchRepo) -> None:
    ok(touchstone(repo.path, "measure", "--pack", "desk", "-q", "--concurrency", "4"))
    (run,) = desk.run_ids(repo)
    assert {line["ttft_s"] for line in responses(repo, run)} == {None}
    perf = the_result(repo, run)["cells"][0]["perf"]
    assert (perf["ttft_p50"], perf["decode_med"], perf["e2e_med"]) == (None, None, None)


def test_R15_a_run_of_another_config_goes_on_as_frozen_and_is_never_promoted(
    repo: ScratchRepo, mind: desk.Mind
) -> None:
    """The row wants the resume refused. The design goes on with the frozen text, names both hashes, and
    refuses where it matters: at the promotion."""
    mind.dies_after = 2
    touchstone(repo.path, "measure", "--pack", "desk", "-q")
    (run,) = desk.run_ids(repo)
    mind.dies_after = None
    pack = repo.path / "packs" / "desk.yaml"
    pack.write_text(pack.read_text().replace('value: "TWO"', 'value: "TWO", threshold: 0.5'))
    done = ok(touchstone(repo.path, "measure", "--resume", run, "-q"))
    named = re.search(r"rules: (sha256:\w{64}) when it started, (sha256:\w{64}) today", done.err)
    assert named is not None
    assert named[1] != named[2]
    assert the_result(repo, run)["hashes"]["rules"] == named[1], "all of it under one config"
    assert "models:" not in done.err
    settings = repo.path / "touchstone.yaml"
    settings.write_text(settings.read_text().replace(f"id: {desk.MODEL}", "id: another-model"))
    again = touchstone(repo.path, "measure", "--resume", run, "-q").err
    assert f"  models: {desk.MODEL} when it started, another-model today" in again.splitlines()
    refused = touchstone(repo.path, "promote", run, "--here", "--allow-single", "--reason", "x")
    assert refused.code == ExitCode.REFUSED
    assert "measured under another configuration" in refused.err
