"""The timing part of a report: what the answers cost, and whether the machine was fit to say so."""

from __future__ import annotations

from touchstone.render import numbers
from touchstone.render.tables import Table
from touchstone.render.words import Words
from touchstone.result.schema import Cell, CellPerf, ResultDoc


def timing_tables(result: ResultDoc, words: Words) -> list[Table]:
    """Two tables with a row per cell, times and machine, and a sentence for whatever was left out."""
    times = [[cell.model, cell.variant, *_times(cell.perf, words)] for cell in result.cells]
    machine = [[cell.model, cell.variant, *_machine(cell.perf, words)] for cell in result.cells]
    return [
        Table(words["speed"], _time_header(words), times, _notices(result, words)),
        Table(words["machine"], _machine_header(words), machine),
    ]


def left_out_sentence(cell: Cell, words: Words) -> str | None:
    """How many answers have no part in the medians, and why; null where all have."""
    perf = cell.perf
    if not perf.left_out:
        return None
    seen, unseen = _watched(perf)
    return words.filled(
        "timing_left_out",
        cell=_name(cell),
        left_out=perf.left_out,
        answered=cell.counts.answered,
        cold=perf.left_out - perf.unfit,
        seen=words.filled("timing_seen", unfit=perf.unfit, what=words.either(seen)) if seen else "",
        unseen=words.filled("timing_unseen", what=words.either(unseen)) if unseen else "",
    )


def _watched(perf: CellPerf) -> tuple[list[str], list[str]]:
    """What spoils times: what the machine was watched for, and what it could not be watched for.

    Where nothing was read and nothing was spoiled, there may have been no tick that could show a sleep.
    """
    readings = {"throttled": perf.thermal, "on_battery": perf.power}
    unseen = [name for name, reading in readings.items() if reading is None]
    seen = [name for name in readings if name not in unseen]
    if not seen and not perf.unfit:
        return [], [*unseen, "slept"]
    return [*seen, "slept"], unseen


def _time_header(words: Words) -> list[str]:
    keys = (
        "model", "variant", "ttft_p50", "ttft_p95", "decode_med", "e2e_med", "throughput",
        "cold_ttft", "cached_share", "left_out",
    )  # fmt: skip
    return [words[key] for key in keys]


def _times(perf: CellPerf, words: Words) -> list[str]:
    share = None if perf.cached_share is None else perf.cached_share * 100
    return [
        *(numbers.number(value, words, 3, "s") for value in (perf.ttft_p50, perf.ttft_p95)),
        numbers.number(perf.decode_med, words, 1),
        numbers.number(perf.e2e_med, words, 3, "s"),
        numbers.number(perf.total_throughput, words, 1),
        numbers.number(perf.cold_ttft_s, words, 3, "s"),
        numbers.number(share, words, 0, "%"),
        str(perf.left_out),
    ]


def _machine_header(words: Words) -> list[str]:
    keys = ("model", "variant", "peak_ram", "model_delta", "pressure", "thermal", "power")
    return [words[key] for key in keys]


def _machine(perf: CellPerf, words: Words) -> list[str]:
    return [
        *(numbers.number(value, words, 1, "GB") for value in (perf.peak_ram_gb, perf.model_delta_gb)),
        *(word or words["na"] for word in (perf.pressure, perf.thermal, perf.power)),
    ]


def _notices(result: ResultDoc, words: Words) -> list[str]:
    concurrency = result.provenance.concurrency
    if concurrency > 1:
        return [words.filled("timing_overlaps", concurrency=concurrency)]
    told = [left_out_sentence(cell, words) for cell in result.cells]
    told += [_ttft_sentence(cell, words) for cell in result.cells]
    return [sentence for sentence in told if sentence]


def _ttft_sentence(cell: Cell, words: Words) -> str | None:
    if not cell.perf.ttft_left_out:
        return None
    return words.filled("ttft_left_out", cell=_name(cell), left_out=cell.perf.ttft_left_out)


def _name(cell: Cell) -> str:
    return f"{cell.model} · {cell.variant}"
