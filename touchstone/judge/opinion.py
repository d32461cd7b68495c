"""Asking the judge about one answer: up to `samples` opinions, each with at most one second try.

Written as generators that yield a request and are sent its reply, so that the same code serves one call
after another and many at once, and nothing here waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from statistics import median_low
from typing import Any, TypeVar

from touchstone.engine.reply import ChatRequest, ErrorClass, Reply
from touchstone.judge.asking import Asking
from touchstone.judge.prompt import Brief, judge_prompt, judge_prompt_again, response_format
from touchstone.judge.reply import Fault, ParsedVerdict, parse_reply
from touchstone.run.records import JudgeSetup

N = TypeVar("N", int, float)

SEED_PER_PASS = 100
SEED_PER_DRAW = 1000

THINKING_OFF: Mapping[str, Any] = {"chat_template_kwargs": {"enable_thinking": False}}
"""The hint most engines pass on to templates of thinking models; `thinking: "off"` in the instrument."""

NOT_REACHED: frozenset[ErrorClass] = frozenset(
    {"transport", "timeout_load", "timeout_idle", "timeout_total", "no_such_model", "model_mismatch"}
)
"""Errors that say nothing about the answer: nothing is recorded, and resuming asks again."""


@dataclass(frozen=True, slots=True)
class JudgeCalls:
    """How the judge is asked."""

    setup: JudgeSetup
    use_schema: bool = False
    extra_body: Mapping[str, Any] = field(default_factory=dict)

    def seed(self, pass_: int, draw: int) -> int | None:
        """Judge seed + 100 · pass + 1000 · draw; the sample's number comes on top. None without a seed."""
        seed = self.setup.seed
        return None if seed is None else seed + SEED_PER_PASS * pass_ + SEED_PER_DRAW * draw


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the judge said of one answer; with a `fault`, `samples` is incomplete and counts for nothing.

    `seconds` and tokens are sums over all calls, None where one of them told none.
    """

    samples: tuple[ParsedVerdict, ...] = ()
    fault: Fault | None = None
    raw_reply: str | None = None
    calls: int = 0
    asked_again: int = 0
    seconds: float | None = 0.0
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0

    @property
    def scores(self) -> dict[str, int]:
        """Median per dimension (the lower middle one of an even number)."""
        dimensions = self.samples[0].scores if self.samples else {}
        return {id_: median_low([sample.scores[id_] for sample in self.samples]) for id_ in dimensions}

    @property
    def red_flag(self) -> bool:
        """The majority's flag; a tie counts as flagged."""
        return 2 * sum(sample.red_flag for sample in self.samples) >= len(self.samples)

    @property
    def rationale(self) -> str:
        """Words of the first sample whose scores and flag are those reported, else of the first."""
        agreed = (self.scores, self.red_flag)
        sample = next((s for s in self.samples if (s.scores, s.red_flag) == agreed), self.samples[0])
        return sample.rationale

    def with_reply(self, reply: Reply) -> Opinion:
        """The same opinion after one more call."""
        return replace(
            self,
            calls=self.calls + 1,
            seconds=total(self.seconds, reply.e2e_s),
            prompt_tokens=total(self.prompt_tokens, reply.prompt_tokens),
            completion_tokens=total(self.completion_tokens, reply.completion_tokens),
        )


@dataclass(frozen=True, slots=True)
class NotReached:
    """The judge did not answer: there is no opinion, not even a bad one."""

    message: str
    calls: int


def total(so_far: N | None, more: N | None) -> N | None:
    """A sum of measured values; None once one of them was not measured."""
    return None if so_far is None or more is None else so_far + more


def opinion_on(
    brief: Brief, answer: str, calls: JudgeCalls, seed: int | None
) -> Asking[Opinion | NotReached]:
    """Ask for each sample in turn, with seed + 0, + 1, …; stop at the first that stays unusable."""
    opinion = Opinion()
    for sample in range(calls.setup.samples):
        asked = yield from _sample(brief, answer, calls, None if seed is None else seed + sample, opinion)
        if isinstance(asked, NotReached) or asked.fault:
            return asked
        opinion = asked
    return opinion


def _sample(
    brief: Brief, answer: str, calls: JudgeCalls, seed: int | None, opinion: Opinion
) -> Asking[Opinion | NotReached]:
    prompt, asked_before = judge_prompt(brief, answer), False
    while True:
        reply = yield _request(brief, prompt, calls, seed)
        opinion = opinion.with_reply(reply)
        if reply.error_class in NOT_REACHED:
            return NotReached(f"{reply.error_class}: {reply.error_message}", opinion.calls)
        read = _read(reply, brief, answer)
        if isinstance(read, ParsedVerdict):
            return replace(opinion, samples=(*opinion.samples, read))
        if asked_before or reply.status == "error":
            return replace(opinion, fault=read, raw_reply=reply.text or reply.error_message or "")
        opinion = replace(opinion, asked_again=opinion.asked_again + 1)
        prompt, asked_before = judge_prompt_again(brief, answer, read.detail), True


def _request(brief: Brief, prompt: str, calls: JudgeCalls, seed: int | None) -> ChatRequest:
    return ChatRequest(
        model=calls.setup.model,
        messages=({"role": "user", "content": prompt},),
        temperature=calls.setup.temperature,
        seed=seed,
        max_tokens=calls.setup.max_tokens,
        response_format=response_format(brief) if calls.use_schema else None,
        extra_body=calls.extra_body,
    )


def _read(reply: Reply, brief: Brief, answer: str) -> ParsedVerdict | Fault:
    if reply.status == "error":  # the partial text of a broken reply is never read
        return Fault("judge_error", f"{reply.error_class}: {reply.error_message}")
    if reply.status == "reasoning_only":
        return Fault("only_thinking", "the reply is thinking and nothing else")
    finish = "length" if reply.status == "truncated" else reply.finish_reason
    return parse_reply(reply.text, brief, answer, finish)
