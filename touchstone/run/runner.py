"""The asking: open samples in, one line of `responses.jsonl` per answer out.

Models are asked one after another, so each is loaded once. The asking function is an argument. With
`concurrency` above 1, threads do nothing but wait for the server; records are made and written here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby, islice
from queue import Empty, SimpleQueue
from typing import Any

from touchstone.engine.reply import Ask, ChatRequest, Reply
from touchstone.errors import EngineError
from touchstone.run.bundle import Bundle
from touchstone.run.records import EvalResponse, Manifest, ModelUnderTest, ResponseError, SampleKey

CONSECUTIVE_FAILURES_MAX = 3
"""A server that is gone answers every request with the same fault; the fourth would say nothing new."""

STOP_LOOK_S = 0.2
"""How often a waiting run looks whether it was told to stop."""

SEED_PER_DRAW = 1000


@dataclass(frozen=True, slots=True)
class EvalProgress:
    """Where a run stands after an answer."""

    done: int
    planned: int
    errors: int
    response: EvalResponse


def run_eval(
    bundle: Bundle,
    ask: Ask,
    *,
    samples: Sequence[SampleKey] | None = None,
    open_block: Callable[[str], None] = lambda _: None,
    progress: Callable[[EvalProgress], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
    go_on: str = "touchstone eval --resume",
) -> bool:
    """Ask every open sample of a bundle; True when nothing is open any more, False when told to stop.

    `samples` names others than the planned ones: further draws of planned rows, one model after another.
    `open_block` is called with each model's name before its first sample.

    Raises EngineError after three failures in a row that say the server is gone; what was answered
    until then is kept, and the same call goes on later.
    """
    planned = len(bundle.samples() if samples is None else samples)
    open_samples = bundle.open_samples(samples)
    tally = _Tally(done=planned - len(open_samples), planned=planned)
    with bundle.response_lines() as lines:
        for model, block in groupby(open_samples, key=lambda sample: sample.model):
            open_block(model)
            for response in _block(bundle.manifest, list(block), ask, stop):
                lines.append(response.to_json())
                tally = tally.with_response(response)
                progress(EvalProgress(tally.done, planned, tally.errors, response))
                tally.refuse_a_dead_server(bundle, go_on)
            if stop():
                return False
    return True


def request_of(manifest: Manifest, sample: SampleKey) -> ChatRequest:
    """The request of one sample: its variant's system prompt, its prompt, and only what is set."""
    suite = manifest.suite
    sampling = suite.instrument.sampling
    case = suite.cases[sample.prompt]
    system = suite.variants[sample.variant].text
    messages = [] if system is None else [{"role": "system", "content": system}]
    return ChatRequest(
        model=sample.model,
        messages=(*messages, {"role": "user", "content": case.input}),
        temperature=sampling.temperature,
        seed=request_seed(sampling.seed, sample),
        top_p=sampling.top_p,
        max_tokens=case.rubric.max_tokens or sampling.max_tokens,
        extra_body=_model(manifest, sample.model).extra_body,
    )


def request_seed(seed: int | None, sample: SampleKey) -> int | None:
    """Sampling seed + (repeat − 1) + 1000 · draw: without it every repeat is a copy on most engines."""
    return None if seed is None else seed + (sample.repeat - 1) + SEED_PER_DRAW * sample.draw


@dataclass(frozen=True)
class _Tally:
    done: int
    planned: int
    errors: int = 0
    in_a_row: int = 0

    def with_response(self, response: EvalResponse) -> _Tally:
        if response.is_good:
            return replace(self, done=self.done + 1, in_a_row=0)
        gone = response.error is not None and response.error.class_ in {"transport", "timeout_load"}
        return replace(
            self, done=self.done + 1, errors=self.errors + 1, in_a_row=self.in_a_row + 1 if gone else 0
        )

    def refuse_a_dead_server(self, bundle: Bundle, go_on: str) -> None:
        if self.in_a_row >= CONSECUTIVE_FAILURES_MAX:
            raise EngineError(
                f"the engine stopped answering: {self.in_a_row} requests in a row failed",
                f"Start it again, then go on: {go_on} {bundle.id}",
            )


def _block(
    manifest: Manifest, block: list[SampleKey], ask: Ask, stop: Callable[[], bool]
) -> Iterator[EvalResponse]:
    asked = _asked_in_order if manifest.concurrency == 1 else _asked_together
    for sample, reply in asked(manifest, block, ask, stop):
        yield _record(manifest, sample, reply, is_cold_start=sample == block[0])


def _asked_in_order(
    manifest: Manifest, block: list[SampleKey], ask: Ask, stop: Callable[[], bool]
) -> Iterator[tuple[SampleKey, Reply]]:
    for sample in block:
        if stop():
            return
        reply = ask(request_of(manifest, sample))
        if stop():
            return  # told to stop while waiting: this answer may be cut, so it is asked again
        yield sample, reply


def _asked_together(
    manifest: Manifest, block: list[SampleKey], ask: Ask, stop: Callable[[], bool]
) -> Iterator[tuple[SampleKey, Reply]]:
    """Keep `concurrency` requests in flight and yield each answer as it arrives."""
    arrived: SimpleQueue[tuple[SampleKey, Future[Reply]]] = SimpleQueue()
    rest = iter(block)
    waiting = 0

    def submit(sample: SampleKey) -> None:
        future = pool.submit(ask, request_of(manifest, sample))
        future.add_done_callback(lambda done: arrived.put((sample, done)))

    pool = ThreadPoolExecutor(manifest.concurrency, thread_name_prefix="ask")
    try:
        while not stop():
            # Twice as many as fit, so that a thread never waits for this one.
            for sample in islice(rest, 2 * manifest.concurrency - waiting):
                submit(sample)
                waiting += 1
            if not waiting:
                return
            with suppress(Empty):
                sample, future = arrived.get(timeout=STOP_LOOK_S)
                waiting -= 1
                yield sample, future.result()
    finally:
        # However it ends: what is not yet sent is not sent any more.
        pool.shutdown(wait=False, cancel_futures=True)


def _record(manifest: Manifest, sample: SampleKey, reply: Reply, *, is_cold_start: bool) -> EvalResponse:
    timings = _timings(reply) if manifest.concurrency == 1 else {}
    return EvalResponse(
        **sample._asdict(),
        category=manifest.suite.cases[sample.prompt].category,
        response_text=reply.text,
        finish_reason=reply.finish_reason,
        status=reply.status,
        error=_error(reply),
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        cached_tokens=reply.cached_tokens,
        reasoning_chars=reply.reasoning_chars,
        seed=request_seed(manifest.suite.instrument.sampling.seed, sample),
        is_cold_start=is_cold_start,
        attempts=reply.attempts,
        t_start=reply.t_start,
        t_end=reply.t_end,
        served_model=reply.served_model,
        system_fingerprint=reply.system_fingerprint,
        notes=list(reply.notes),
        **timings,
    )


def _timings(reply: Reply) -> dict[str, Any]:
    """Times of one request alone on the engine; those of overlapping requests would say nothing."""
    return {
        "ttft_s": reply.ttft_s,
        "e2e_s": reply.e2e_s,
        "decode_tps": reply.decode_tps,
        "prefill_tps": reply.prefill_tps,
    }


def _error(reply: Reply) -> ResponseError | None:
    if reply.status != "error":
        return None
    return ResponseError(class_=reply.error_class or "transport", message=reply.error_message or "no message")


def _model(manifest: Manifest, model: str) -> ModelUnderTest:
    return next(entry for entry in manifest.models if entry.id == model)
