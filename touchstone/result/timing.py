"""Timing: medians over the answers that are fit to be timed, and the length of answers."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from touchstone.result.numbers import kept, median, percentile
from touchstone.result.rows import repeats_of
from touchstone.result.schema import CellPerf, Row
from touchstone.run.records import ResponseFacts, SampleKey

CACHED_SHARE_MAX = 0.1
"""A prompt of which the engine had this share or more in its cache says nothing of TTFT."""


@dataclass(frozen=True)
class CellMachine:
    """What the host's sampler saw while a cell was asked; null where it saw nothing.

    Memory in GB of 2**30 bytes; the words are the worst it read.
    """

    peak_ram_gb: float | None = None
    model_delta_gb: float | None = None
    pressure: str | None = None
    thermal: str | None = None
    power: str | None = None


def cell_perf(
    responses: Sequence[ResponseFacts],
    *,
    concurrency: int,
    left_out: Collection[SampleKey] = frozenset(),
    machine: CellMachine | None = None,
) -> CellPerf:
    """Timing of one cell's responses: seconds and tokens per second.

    Failed requests, the cold start and `left_out` (throttled, on battery) do not enter; the last two are
    counted. TTFT enters only where the cached share of the prompt is known to be small. The times of
    overlapping requests are null.
    """
    good = [response for response in responses if response.is_good]
    cold = [answer for answer in good if answer.is_cold_start]
    warm = [answer for answer in good if not answer.is_cold_start]
    timed = [answer for answer in warm if answer.key not in left_out]
    machine = machine or CellMachine()
    perf = CellPerf(
        model_delta_gb=None if machine.model_delta_gb is None else kept(machine.model_delta_gb),
        peak_ram_gb=None if machine.peak_ram_gb is None else kept(machine.peak_ram_gb),
        pressure=machine.pressure,
        thermal=machine.thermal,
        power=machine.power,
        left_out=len(good) - len(timed),
        unfit=len(warm) - len(timed),
    )
    return perf if concurrency > 1 else perf.model_copy(update=_times(timed) | _cold_times(cold))


def length_medians(rows: Sequence[Row]) -> tuple[float | None, float | None]:
    """Median (completion tokens, characters) of a cell's answers.

    Reasoning without an answer has no length. Tokens are null unless the engine counted every answer.
    """
    answers = [repeat for repeat in repeats_of(rows) if repeat.status in ("ok", "truncated", "empty")]
    tokens = [answer.completion_tokens for answer in answers if answer.completion_tokens is not None]
    chars = [answer.answer_chars for answer in answers if answer.answer_chars is not None]
    return median(tokens) if len(tokens) == len(answers) else None, median(chars)


def _cold_times(cold: Sequence[ResponseFacts]) -> dict[str, float | None]:
    """A resumed run has a cold start each time; the worst of them is shown."""
    return {"cold_ttft_s": max((answer.ttft_s for answer in cold if answer.ttft_s is not None), default=None)}


def _times(timed: Sequence[ResponseFacts]) -> dict[str, float | None]:
    ttft = [answer.ttft_s for answer in timed if answer.ttft_s is not None and _is_uncached(answer)]
    return {
        "ttft_left_out": len(timed) - len(ttft),
        "cached_share": _cached_share(timed),
        "ttft_p50": percentile(ttft, 0.5),
        "ttft_p95": percentile(ttft, 0.95),
        "decode_med": median([answer.decode_tps for answer in timed if answer.decode_tps is not None]),
        "e2e_med": median([answer.e2e_s for answer in timed if answer.e2e_s is not None]),
        "total_throughput": _throughput(timed),
    }


def _is_uncached(answer: ResponseFacts) -> bool:
    if answer.cached_tokens is None or not answer.prompt_tokens:
        return False
    return answer.cached_tokens / answer.prompt_tokens < CACHED_SHARE_MAX


def _cached_share(timed: Sequence[ResponseFacts]) -> float | None:
    """Null unless the engine told both counts for every answer."""
    cached = [answer.cached_tokens for answer in timed if answer.cached_tokens is not None]
    asked = [answer.prompt_tokens for answer in timed if answer.prompt_tokens]
    counted = len(cached) == len(asked) == len(timed)
    return kept(sum(cached) / sum(asked)) if counted and asked else None


def _throughput(timed: Sequence[ResponseFacts]) -> float | None:
    """Completion tokens per second of waiting for answers; null unless all of them were counted.

    The answers of a cell follow one another, so their own times add up to its time on the wall, without
    the hours in which an interrupted run lay still.
    """
    tokens = [answer.completion_tokens for answer in timed if answer.completion_tokens is not None]
    seconds = math.fsum(answer.e2e_s for answer in timed if answer.e2e_s is not None)
    counted = len(tokens) == len(timed) and all(answer.e2e_s is not None for answer in timed)
    return kept(sum(tokens) / seconds) if counted and seconds > 0 else None
