"""The timing part of the report."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit.builders import Outcome, judged_suite, result
from touchstone.render.reading import Reading
from touchstone.render.report import report_text
from touchstone.render.terminal import result_text
from touchstone.result.schema import ResultDoc
from touchstone.result.timing import CellMachine
from touchstone.run.records import SampleKey

TABLE = {"A": Outcome([5, 5]), "B": Outcome([5, 5]), "C": Outcome([4, 4])}
SEEN = CellMachine(21.25, 4.5, "warn", "heavy", "battery")


def measured(table: dict[str, Outcome] = TABLE, **build: Any) -> ResultDoc:
    return result(judged_suite(list(table)), table, build=build)


def section(document: ResultDoc, heading: str, **options: Any) -> str:
    return report_text(Reading(document), **options).partition(f"## {heading}\n")[2].partition("\n## ")[0]


def test_every_figure_of_a_cell_stands_in_the_report() -> None:
    document = measured(resources={("m", "none"): SEEN})
    perf = document.cells[0].perf
    times = section(document, "Timing").splitlines()[3]
    assert perf.ttft_p50 is not None
    assert perf.total_throughput is not None
    for figure in (
        f"{perf.ttft_p50:.3f} s", f"{perf.ttft_p95:.3f} s", f"{perf.decode_med:.1f}", f"{perf.e2e_med:.3f} s",
        f"{perf.total_throughput:.1f}", "0.200 s", "0 %",
    ):  # fmt: skip
        assert figure in times
    assert "| 21.2 GB | 4.5 GB | warn | heavy | battery |" in section(document, "Machine meanwhile")


def test_what_was_not_measured_reads_not_available_in_both_languages() -> None:
    assert "| n/a | n/a | n/a | n/a | n/a |" in section(measured(), "Machine meanwhile")
    german = section(measured(), "Maschine währenddessen", language="de")
    assert "| n. v. | n. v. | n. v. | n. v. | n. v. |" in german


def test_answers_left_out_are_counted_with_their_reasons() -> None:
    spoiled = {SampleKey("m", "none", "B", 1, 0)}
    document = measured(left_out=spoiled, resources={("m", "none"): SEEN})
    sentence = (
        "m · none: 2 of 3 answers are left out of the timing medians "
        "(1 cold start, 1 while the machine throttled, ran on battery or slept)."
    )
    assert sentence in section(document, "Timing")
    assert sentence in " ".join(result_text(document).split())
    assert "2 von 3 Antworten" in section(document, "Zeiten", language="de")


def test_a_machine_that_nobody_watched_is_not_said_to_have_been_fit() -> None:
    told = "(1 cold start; n/a whether the machine throttled, ran on battery or slept)"
    assert told in section(measured(), "Timing")
    assert "0 while the machine" not in section(measured(), "Timing")
    assert "n. v., ob die Maschine drosselte" in section(measured(), "Zeiten", language="de")
    assert "(1 cold start, 0 while" in section(measured(resources={("m", "none"): SEEN}), "Timing")


@pytest.mark.parametrize(
    ("known", "spoiled", "seen", "unseen"),
    [
        ({"thermal": "nominal"}, 0, "throttled or slept", "ran on battery"),
        ({"power": "ac"}, 0, "ran on battery or slept", "throttled"),
        ({"power": "battery"}, 1, "ran on battery or slept", "throttled"),
        ({}, 1, "slept", "throttled or ran on battery"),
    ],
)
def test_what_the_machine_could_not_be_watched_for_is_never_told_as_none(
    known: dict[str, Any], spoiled: int, seen: str, unseen: str
) -> None:
    left_out = {SampleKey("m", "none", "B", 1, 0)} if spoiled else set()
    document = measured(left_out=left_out, resources={("m", "none"): CellMachine(**known)})
    told = f"(1 cold start, {spoiled} while the machine {seen}; n/a whether the machine {unseen})"
    assert told in section(document, "Timing")
    assert "n. v., ob die Maschine" in section(document, "Zeiten", language="de")


def test_a_cold_start_alone_is_told_in_the_report_and_not_on_the_terminal() -> None:
    assert "1 of 3 answers are left out" in section(measured(), "Timing")
    assert "left out" not in result_text(measured())


def test_a_first_token_that_does_not_count_says_why() -> None:
    cached = Outcome([5, 5], response={"cached_tokens": 9, "prompt_tokens": 10})
    timing = section(measured({"A": Outcome([5, 5]), "B": cached, "C": cached}), "Timing")
    assert "the first token of 2 more does not count" in timing
    assert "90 %" in timing


def test_overlapping_requests_are_told_once() -> None:
    document = result(judged_suite(list(TABLE)), TABLE, concurrency=4)
    assert "4 requests were in flight at once" in section(document, "Timing")


def test_a_models_name_cannot_break_out_of_the_sentence() -> None:
    timing = section(result(judged_suite(["A"]), {"A": Outcome([5, 5])}, models=["a|b @me"]), "Timing")
    assert "@me" not in timing
    assert "a\\|b" in timing
