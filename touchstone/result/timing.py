"""Timing: medians over the answers that are fit to be timed, and the length of answers."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from touchstone.result.numbers import kept, median, percentile
from touchstone.result.rows import repeats_of
from touchstone.result.schema import CellPerf, Row
from touchstone.run.records import EvalResponse, SampleKey

CACHED_SHARE_MAX = 0.1
"""A prompt of which the engine had this share or more in its cache says nothing of TTFT."""


@dataclass(frozen=True)
class CellMemory:
    """What the host's sampler saw of a cell, in GB of 2**30 bytes; null where it saw nothing."""

    peak_ram_gb: float | None = None
    model_delta_gb: float | None = None


def cell_perf(
    responses: Sequence[EvalResponse],
    *,
    concurrency: int,
    left_out: Collection[SampleKey] = frozenset(),
    memory: CellMemory | None = None,
) -> CellPerf:
    """Timing of one cell's responses: seconds and tokens per second.

    Failed requests, the cold start and `left_out` (throttled, on battery) do not enter; the last two are
    counted. TTFT enters only where the cached share of the prompt is known to be small. The times of
    overlapping requests are null.
    """
    good = [response for response in responses if response.is_good]
    timed = [answer for answer in good if not answer.is_cold_start and answer.key not in left_out]
    memory = memory or CellMemory()
    perf = CellPerf(
        model_delta_gb=None if memory.model_delta_gb is None else kept(memory.model_delta_gb),
        peak_ram_gb=None if memory.peak_ram_gb is None else kept(memory.peak_ram_gb),
        left_out=len(good) - len(timed),
    )
    return perf if concurrency > 1 else perf.model_copy(update=_times(timed))


def length_medians(rows: Sequence[Row]) -> tuple[float | None, float | None]:
    """Median (completion tokens, characters) of a cell's answers.

    Reasoning without an answer has no length. Tokens are null unless the engine counted every answer.
    """
    answers = [repeat for repeat in repeats_of(rows) if repeat.status in ("ok", "truncated", "empty")]
    tokens = [answer.completion_tokens for answer in answers if answer.completion_tokens is not None]
    chars = [answer.answer_chars for answer in answers if answer.answer_chars is not None]
    return median(tokens) if len(tokens) == len(answers) else None, median(chars)


def _times(timed: Sequence[EvalResponse]) -> dict[str, float | None]:
    ttft = [answer.ttft_s for answer in timed if answer.ttft_s is not None and _is_uncached(answer)]
    return {
        "ttft_p50": percentile(ttft, 0.5),
        "ttft_p95": percentile(ttft, 0.95),
        "decode_med": median([answer.decode_tps for answer in timed if answer.decode_tps is not None]),
        "e2e_med": median([answer.e2e_s for answer in timed if answer.e2e_s is not None]),
        "total_throughput": _throughput(timed),
    }


def _is_uncached(answer: EvalResponse) -> bool:
    if answer.cached_tokens is None or not answer.prompt_tokens:
        return False
    return answer.cached_tokens / answer.prompt_tokens < CACHED_SHARE_MAX


def _throughput(timed: Sequence[EvalResponse]) -> float | None:
    """Completion tokens per second of waiting for answers; null unless all of them were counted.

    The answers of a cell follow one another, so their own times add up to its time on the wall, without
    the hours in which an interrupted run lay still.
    """
    tokens = [answer.completion_tokens for answer in timed if answer.completion_tokens is not None]
    seconds = math.fsum(answer.e2e_s for answer in timed if answer.e2e_s is not None)
    counted = len(tokens) == len(timed) and all(answer.e2e_s is not None for answer in timed)
    return kept(sum(tokens) / seconds) if counted and seconds > 0 else None
