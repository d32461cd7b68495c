from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from tests.kit import builders
from touchstone.engine.reply import Ask, ChatRequest, Reply
from touchstone.errors import EngineError
from touchstone.pack.schema import Sampling
from touchstone.run.bundle import Bundle
from touchstone.run.records import SampleKey
from touchstone.run.runner import EvalProgress, request_of, run_eval

VARIANTS = {"none": None, "house": "Be brief."}


def new_bundle(
    tmp_path: Path, prompts: int = 3, models: tuple[str, ...] = ("m",), **fields: object
) -> Bundle:
    suite = builders.checks_suite([f"A{n}" for n in range(prompts)], variants=VARIANTS, repeats=2)
    return Bundle.create(tmp_path, builders.manifest(suite, models, **fields))


def echo(request: ChatRequest) -> Reply:
    return Reply(
        status="ok", text=f"{request.model}|{request.seed}|{request.messages[-1]['content']}", ttft_s=0.1
    )


def gone(_request: ChatRequest) -> Reply:
    return Reply(status="error", text="", error_class="transport", error_message="connection refused")


class Counting:
    """An asking function that counts its calls."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.asked = 0

    def __call__(self, request: ChatRequest) -> Reply:
        self.asked += 1
        return self._ask(request)


def test_every_sample_is_asked_once_in_the_order_of_the_plan(tmp_path: Path) -> None:
    bundle = new_bundle(tmp_path, models=("m", "n"))
    assert run_eval(bundle, echo)
    assert list(bundle.responses()) == bundle.samples()
    assert bundle.open_samples() == []


def test_a_whole_bundle_asks_nothing(tmp_path: Path) -> None:
    bundle = new_bundle(tmp_path)
    run_eval(bundle, echo)
    before = bundle.responses_path.read_bytes()
    assert run_eval(bundle, gone)
    assert bundle.responses_path.read_bytes() == before


@pytest.mark.parametrize("concurrency", [1, 4])
def test_what_was_answered_before_a_crash_is_not_asked_again(tmp_path: Path, concurrency: int) -> None:
    class CrashError(Exception):
        pass

    bundle = new_bundle(tmp_path, concurrency=concurrency)

    def crash(event: EvalProgress) -> None:
        if event.done == 5:
            raise CrashError

    with pytest.raises(CrashError):
        run_eval(bundle, echo, progress=crash)
    done = set(bundle.responses())
    assert len(done) == 5
    again = Counting(echo)
    run_eval(bundle, again)
    assert again.asked == len(bundle.samples()) - 5
    assert set(bundle.responses()) == set(bundle.samples())


def test_a_failed_answer_is_kept_and_asked_again_on_resume(tmp_path: Path) -> None:
    bundle = new_bundle(tmp_path)

    def failing(request: ChatRequest) -> Reply:
        if request.seed != 43:
            return echo(request)
        return Reply(status="error", text="par", error_class="http", error_message="500")

    run_eval(bundle, failing)
    kept = [response for response in bundle.responses().values() if not response.is_good]
    assert [response.error.message for response in kept if response.error] == ["500"] * 6
    run_eval(bundle, echo)
    assert all(response.is_good for response in bundle.responses().values())


def test_a_dead_server_ends_the_run_after_three_failures_and_says_how_to_go_on(tmp_path: Path) -> None:
    bundle = new_bundle(tmp_path, prompts=10)
    server = Counting(gone)
    with pytest.raises(EngineError, match="3 requests in a row") as caught:
        run_eval(bundle, server)
    assert server.asked == 3
    assert caught.value.hint is not None
    assert f"--resume {bundle.id}" in caught.value.hint
    assert len(bundle.responses()) == 3


def test_an_answer_that_came_while_stopping_is_not_kept(tmp_path: Path) -> None:
    bundle = new_bundle(tmp_path)
    stop = threading.Event()

    def cut(request: ChatRequest) -> Reply:
        if request.seed == 43:
            stop.set()
        return echo(request)

    assert not run_eval(bundle, cut, stop=stop.is_set)
    assert len(bundle.responses()) == 1


def test_seeds_differ_between_repeats_and_draws_and_only_what_is_set_is_sent() -> None:
    suite = builders.checks_suite(
        ["A1"], sampling=Sampling(temperature=0.8, seed=7, top_p=None, max_tokens=None)
    )
    asked = builders.manifest(suite)
    seeds = [request_of(asked, SampleKey("m", "none", "A1", r, d)).seed for r, d in [(1, 0), (2, 0), (1, 2)]]
    assert seeds == [7, 8, 2007]
    request = request_of(asked, SampleKey("m", "none", "A1", 1, 0))
    assert (request.temperature, request.top_p, request.max_tokens) == (0.8, None, None)
    assert request.messages == ({"role": "user", "content": "Question A1?"},)


def test_a_variant_sends_its_system_prompt_verbatim() -> None:
    suite = builders.checks_suite(["A1"], variants={"house": "Be brief.\n"})
    request = request_of(builders.manifest(suite), SampleKey("m", "house", "A1", 1, 0))
    assert request.messages[0] == {"role": "system", "content": "Be brief.\n"}


def test_the_first_answer_of_each_model_is_the_cold_start(tmp_path: Path) -> None:
    bundle = new_bundle(tmp_path, models=("m", "n"))
    run_eval(bundle, echo)
    cold = [key for key, response in bundle.responses().items() if response.is_cold_start]
    assert cold == [bundle.samples()[0], bundle.samples()[12]]


def test_requests_overlap_up_to_the_concurrency_and_are_not_timed(tmp_path: Path) -> None:
    bundle = new_bundle(tmp_path, prompts=8, concurrency=4)
    lock, flight, most = threading.Lock(), 0, 0

    def slow(request: ChatRequest) -> Reply:
        nonlocal flight, most
        with lock:
            flight += 1
            most = max(most, flight)
        time.sleep(0.01)
        with lock:
            flight -= 1
        return echo(request)

    run_eval(bundle, slow)
    assert most == 4
    assert {response.ttft_s for response in bundle.responses().values()} == {None}


def test_an_answer_is_written_when_it_arrives_not_when_its_turn_comes(tmp_path: Path) -> None:
    bundle = new_bundle(tmp_path, concurrency=2)
    first, release = bundle.samples()[0], threading.Event()
    slow_seed_and_text = (42, "Question A0?")
    others: list[SampleKey] = []

    def blocked(request: ChatRequest) -> Reply:
        if (request.seed, request.messages[-1]["content"]) == slow_seed_and_text and len(
            request.messages
        ) == 1:
            release.wait(5)
        return echo(request)

    def watch(event: EvalProgress) -> None:
        others.append(event.response.key)
        if event.done == 11:
            release.set()

    run_eval(bundle, blocked, progress=watch)
    assert others[-1] == first


def test_a_run_that_cannot_go_on_sends_nothing_of_what_still_waits(tmp_path: Path) -> None:
    bundle = new_bundle(tmp_path, concurrency=2)
    release = threading.Event()
    asked: list[str] = []

    def only_the_first_is_answered(request: ChatRequest) -> Reply:
        asked.append(request.messages[-1]["content"])
        if len(asked) > 1:
            release.wait(5)
        return echo(request)

    def disk_full(_event: EvalProgress) -> None:
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        run_eval(bundle, only_the_first_is_answered, progress=disk_full)
    release.set()
    until = time.monotonic() + 5
    while any(thread.name.startswith("ask") for thread in threading.enumerate()):
        assert time.monotonic() < until
        time.sleep(0.01)
    assert len(asked) <= 3, "the one answered, and the two under way"
