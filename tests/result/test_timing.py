"""Timing medians and answer lengths."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit.builders import Outcome, judged_suite, response, result
from touchstone.result.schema import CellPerf
from touchstone.result.timing import CellMachine, cell_perf
from touchstone.run.records import EvalResponse, SampleKey


def answers(*fields: dict[str, Any]) -> list[EvalResponse]:
    """One response per argument, twenty tokens in a second unless it says otherwise."""
    usual = {"completion_tokens": 20}
    return [
        response(SampleKey("m", "none", f"P{number}", 1, 0), "text", **(usual | given))
        for number, given in enumerate(fields)
    ]


def perf(*fields: dict[str, Any], concurrency: int = 1, **others: Any) -> CellPerf:
    return cell_perf(answers(*fields), concurrency=concurrency, **others)


def test_medians_of_an_undisturbed_cell() -> None:
    found = perf(
        {"ttft_s": 0.1, "decode_tps": 30.0, "e2e_s": 1.0},
        {"ttft_s": 0.3, "decode_tps": 50.0, "e2e_s": 2.0},
        {"ttft_s": 0.2, "decode_tps": 40.0, "e2e_s": 5.0},
    )
    assert [found.ttft_p50, found.ttft_p95] == pytest.approx([0.2, 0.29])
    assert (found.decode_med, found.e2e_med, found.total_throughput) == (40.0, 2.0, 7.5)
    assert found.left_out == 0


def test_the_cold_start_and_unfit_answers_are_left_out_and_counted() -> None:
    unfit = SampleKey("m", "none", "P1", 1, 0)
    found = perf({"e2e_s": 90.0, "is_cold_start": True}, {"e2e_s": 60.0}, {"e2e_s": 2.0}, left_out={unfit})
    assert (found.e2e_med, found.left_out) == (2.0, 2)
    assert found.total_throughput == 10.0


def test_a_failed_request_has_no_part_in_timing() -> None:
    failed = response(SampleKey("m", "none", "F", 1, 0), "", status="error", e2e_s=30.0)
    found = cell_perf([failed, *answers({"e2e_s": 2.0})], concurrency=1)
    assert (found.e2e_med, found.left_out) == (2.0, 0)


@pytest.mark.parametrize(
    ("cached", "prompt", "enters"),
    [
        (0, 100, True),
        (9, 100, True),
        (10, 100, False),
        (100, 100, False),
        (None, 100, False),
        (0, None, False),
    ],
)
def test_ttft_enters_only_where_the_cached_share_is_known_to_be_small(
    cached: int | None, prompt: int | None, enters: bool
) -> None:
    found = perf({"ttft_s": 0.5, "cached_tokens": cached, "prompt_tokens": prompt})
    assert found.ttft_p50 == (0.5 if enters else None)
    assert found.e2e_med == 1.0


def test_overlapping_requests_have_no_times() -> None:
    found = perf({}, {}, concurrency=2, machine=CellMachine(peak_ram_gb=20.5, model_delta_gb=4.0))
    assert found == CellPerf(peak_ram_gb=20.5, model_delta_gb=4.0)


def test_usage_the_engine_does_not_tell_is_not_guessed() -> None:
    found = perf({"completion_tokens": None, "decode_tps": None}, {})
    assert found.total_throughput is None
    assert found.decode_med == 40.0


def test_nothing_to_time_is_null() -> None:
    assert perf({"is_cold_start": True, "ttft_s": None}) == CellPerf(left_out=1)


def test_the_cold_start_stands_apart_and_the_worst_of_several_is_shown() -> None:
    cold = {"is_cold_start": True}
    found = perf(cold | {"ttft_s": 9.0}, {"ttft_s": 0.2}, cold | {"ttft_s": 4.0}, cold | {"ttft_s": None})
    assert (found.cold_ttft_s, found.ttft_p50) == (9.0, 0.2)
    assert (found.left_out, found.unfit) == (3, 0)


def test_unfit_answers_are_counted_apart_from_the_cold_start() -> None:
    throttled = {SampleKey("m", "none", f"P{number}", 1, 0) for number in (0, 2)}
    found = perf({"is_cold_start": True}, {}, {}, {}, left_out=throttled)
    assert (found.left_out, found.unfit) == (2, 1)


def test_the_cached_share_is_null_unless_it_was_told_for_every_answer() -> None:
    told = [{"cached_tokens": 50, "prompt_tokens": 100}, {"cached_tokens": 1, "prompt_tokens": 100}]
    assert (perf(*told).cached_share, perf(*told).ttft_left_out) == (0.255, 1)
    untold = perf(*told, {"cached_tokens": None})
    assert (untold.cached_share, untold.ttft_left_out) == (None, 2)


def test_what_the_machine_was_seen_doing_is_passed_on_and_absence_stays_null() -> None:
    seen = CellMachine(20.5, 4.0, pressure="warn", thermal="heavy", power="battery")
    found = perf({}, machine=seen)
    assert (found.pressure, found.thermal, found.power) == ("warn", "heavy", "battery")
    absent = perf({})
    assert (absent.pressure, absent.thermal, absent.power, absent.peak_ram_gb) == (None, None, None, None)


def test_lengths_are_medians_over_visible_answers() -> None:
    table = {
        "A": Outcome([5, 5], text="one two three"),
        "B": Outcome([5, 5], text="one"),
        "C": Outcome([1, 1], status="empty"),
        "D": Outcome(status="reasoning_only", response={"completion_tokens": 4000}),
        "E": Outcome(status="error"),
    }
    cell = result(judged_suite(list(table)), table).cells[0]
    assert (cell.answer_tokens_med, cell.answer_chars_med) == (1.0, 3.0)


def test_one_uncounted_answer_leaves_the_length_to_the_characters() -> None:
    table = {
        "A": Outcome([5, 5], text="one two three", response={"completion_tokens": None}),
        "B": Outcome([5, 5], text="one"),
    }
    cell = result(judged_suite(list(table)), table).cells[0]
    assert (cell.answer_tokens_med, cell.answer_chars_med) == (None, 8.0)
