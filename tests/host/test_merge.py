from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.errors import BadInputError
from touchstone.files import JsonlAppender
from touchstone.host.merge import (
    MemoryPeak,
    Window,
    WindowFacts,
    WorstWords,
    merge_windows,
    peak_of,
    worst_words_of,
)
from touchstone.host.tick import Tick, read_ticks

T0 = 1_796_000_000.0


def tick(at: float, used: float | None = 1000.0, **rest: Any) -> Tick:
    """A tick `at` seconds after T0, on a clock that runs true."""
    return Tick(ts=T0 + at, monotonic=rest.pop("monotonic", 500.0 + at), sys_used_mb=used, **rest)


def every_half_second(first: float, last: float, **rest: Any) -> list[Tick]:
    return [tick(first + 0.5 * step, **rest) for step in range(int((last - first) * 2) + 1)]


def facts_of(ticks: Sequence[Tick], start: float, end: float) -> WindowFacts[str]:
    [facts] = merge_windows(ticks, [Window("a", T0 + start, T0 + end)])
    return facts


def test_a_window_has_the_most_memory_the_worst_words_and_both_deltas() -> None:
    ticks = [
        tick(0, 1000.0, swap_used_mb=10.0, start=True),
        tick(10, 9000.0, swap_used_mb=12.0, pressure="normal", thermal="nominal", power="ac"),
        tick(11, 9500.0, swap_used_mb=60.0, pressure="warn", thermal="heavy", power="ac"),
        tick(12, 9200.0, swap_used_mb=50.0, pressure="normal", thermal="light", power="ac"),
    ]
    assert facts_of(ticks, 10, 12) == WindowFacts(
        "a",
        sys_used_mb=9500.0,
        sys_used_baseline_mb=1000.0,
        sys_used_delta_mb=8500.0,
        swap_delta_mb=50.0,
        pressure="warn",
        thermal="heavy",
        power="ac",
        throttled=True,
        on_battery=False,
        slept=False,
    )


@pytest.mark.parametrize(
    ("at", "inside"), [(9.4, False), (9.5, True), (10.0, True), (12.5, True), (12.6, False)]
)
def test_a_tick_half_a_second_outside_still_counts(at: float, inside: bool) -> None:
    ticks = sorted([tick(11), tick(at, 5000.0)], key=lambda item: item.ts)
    assert facts_of(ticks, 10, 12).sys_used_mb == (5000.0 if inside else 1000.0)


def test_without_a_tick_inside_the_nearest_one_speaks() -> None:
    ticks = [tick(0, 1.0), tick(7, 2.0), tick(13, 3.0), tick(20, 4.0)]
    assert facts_of(ticks, 9, 10).sys_used_mb == 2.0
    assert facts_of(ticks, 10, 11.5).sys_used_mb == 3.0


def test_a_tick_too_far_away_says_nothing() -> None:
    facts = facts_of([tick(0, start=True), tick(4)], 9.5, 11)
    assert set(facts.measured().values()) == {None}
    assert facts_of([tick(30)], 10, 24.9).sys_used_mb is None


def test_a_bundle_without_ticks_is_null_everywhere(tmp_path: Path) -> None:
    facts = facts_of(read_ticks(tmp_path / "none.jsonl"), 0, 1)
    assert set(facts.measured().values()) == {None}
    assert facts.is_fit_for_timing


def test_an_answer_without_times_is_null() -> None:
    [facts] = merge_windows(every_half_second(0, 9), [Window("a", None, None)])
    assert facts == WindowFacts("a")


def test_unread_and_nominal_stay_two_things() -> None:
    unread = facts_of([tick(0)], 0, 1)
    assert (unread.thermal, unread.throttled, unread.power, unread.on_battery) == (None, None, None, None)
    nominal = facts_of([tick(0, thermal="nominal", power="ac")], 0, 1)
    assert (nominal.throttled, nominal.on_battery) == (False, False)


@pytest.mark.parametrize("word", ["light", "moderate", "heavy", "trapping", "sleeping", "other:Serious"])
def test_every_level_but_nominal_leaves_the_answer_out_of_timing(word: str) -> None:
    facts = facts_of([tick(0, thermal=word)], 0, 1)
    assert facts.throttled is True
    assert not facts.is_fit_for_timing


def test_unplugging_flags_just_the_answers_in_that_window() -> None:
    ticks = [
        *every_half_second(0, 20, power="ac"),
        *every_half_second(20.5, 40, power="battery"),
        *every_half_second(40.5, 60, power="ac"),
    ]
    windows = [Window(at, T0 + at, T0 + at + 3.0) for at in (5, 15, 25, 35, 45, 55)]
    flagged = [facts.key for facts in merge_windows(ticks, windows) if facts.on_battery]
    assert flagged == [25, 35]


def test_a_suspend_of_thirty_seconds_nulls_its_window_and_no_other() -> None:
    awake, later = every_half_second(0, 10), every_half_second(40.5, 50)
    ticks = [*awake, *(tick(item.ts - T0, monotonic=item.monotonic - 30.0) for item in later)]
    before, across, after = merge_windows(
        ticks, [Window("a", T0 + 2, T0 + 5), Window("b", T0 + 8, T0 + 44), Window("c", T0 + 44, T0 + 48)]
    )
    assert across == WindowFacts("b", slept=True)
    assert not across.is_fit_for_timing
    assert [facts.slept for facts in (before, after)] == [False, False]
    assert before.sys_used_mb == after.sys_used_mb == 1000.0


def test_a_clock_set_back_nulls_every_answer_of_the_hour_that_came_twice() -> None:
    first = every_half_second(0, 100)
    again = [tick(at.ts - T0 - 60.0, monotonic=at.monotonic) for at in every_half_second(100.5, 200)]
    windows = [Window(at, T0 + at, T0 + at + 2.0) for at in (10, 45, 70, 98, 110)]
    assert [facts.slept for facts in merge_windows([*first, *again], windows)] == [
        False,
        True,
        True,
        True,
        False,
    ]


def test_an_answer_that_ends_before_it_began_met_a_clock_jump() -> None:
    assert facts_of(every_half_second(0, 10), 5, 4) == WindowFacts("a", slept=True)


def test_a_clock_that_is_only_slewed_is_no_jump() -> None:
    ticks = [tick(at, monotonic=500 + at * 0.9995) for at in range(100)]
    assert facts_of(ticks, 10, 60).slept is False


def test_a_sampler_that_stood_still_leaves_a_hole() -> None:
    ticks = [*every_half_second(0, 10), *every_half_second(21, 30)]
    assert facts_of(ticks, 9, 22).slept is True
    assert facts_of(ticks, 22, 23).slept is False


def test_the_time_between_two_starts_is_no_hole() -> None:
    ticks = [*every_half_second(0, 10), tick(3600, start=True), *every_half_second(3600.5, 3610)]
    windows = [Window("last", T0 + 9, T0 + 10.2), Window("first", T0 + 3600.1, T0 + 3601)]
    assert [facts.slept for facts in merge_windows(ticks, windows)] == [False, False]


def test_a_clock_set_back_between_two_starts_makes_the_times_of_both_doubtful() -> None:
    ticks = [*every_half_second(0, 60), tick(30, start=True, monotonic=600.0)]
    assert facts_of(ticks, 40, 41).slept is True
    assert facts_of(ticks, 10, 11).slept is False


def test_a_resumed_run_keeps_the_baseline_from_before_the_model_was_loaded() -> None:
    ticks = [tick(0, 1000.0, start=True), tick(1, 9000.0), tick(50, 9000.0, start=True), tick(51, 9100.0)]
    assert facts_of(ticks, 51, 52).sys_used_delta_mb == 8100.0


def test_a_reboot_begins_a_new_baseline() -> None:
    ticks = [
        tick(0, 1000.0, start=True),
        tick(1, 9000.0),
        tick(500, 3000.0, start=True, monotonic=20.0),
        tick(501, 11000.0, monotonic=21.0),
    ]
    first, second = merge_windows(ticks, [Window("a", T0 + 1, T0 + 2), Window("b", T0 + 501, T0 + 502)])
    assert (first.sys_used_baseline_mb, first.sys_used_delta_mb) == (1000.0, 8000.0)
    assert (second.sys_used_baseline_mb, second.sys_used_delta_mb) == (3000.0, 8000.0)


def test_an_unread_baseline_gives_no_delta() -> None:
    facts = facts_of([tick(0, None, start=True), tick(1, 9000.0)], 1, 2)
    assert (facts.sys_used_mb, facts.sys_used_baseline_mb, facts.sys_used_delta_mb) == (9000.0, None, None)


def test_the_peak_of_a_cell_is_that_of_its_windows() -> None:
    ticks = [tick(0, 1000.0, start=True), tick(10, 9000.0), tick(20, 9500.0), tick(30, 20000.0)]
    cell = merge_windows(ticks, [Window(at, T0 + at, T0 + at + 1.0) for at in (10, 20)])
    assert peak_of(cell) == MemoryPeak(9500.0, 8500.0)
    assert peak_of([]) == MemoryPeak(None, None)
    assert peak_of([WindowFacts("unmeasured")]) == MemoryPeak(None, None)


def test_the_words_of_a_cell_are_the_worst_of_its_windows() -> None:
    cell = [
        WindowFacts("a", pressure="normal", thermal="nominal", power="battery"),
        WindowFacts("b", pressure="warn", thermal="other:Glowing", power="ac"),
        WindowFacts("unmeasured"),
    ]
    assert worst_words_of(cell) == WorstWords("warn", "other:Glowing", "battery")
    assert worst_words_of([]) == WorstWords(None, None, None)


@given(
    st.lists(st.tuples(st.floats(0, 50), st.floats(0, 50)), max_size=20),
    st.lists(st.tuples(st.floats(0, 50), st.floats(0, 50)), max_size=5),
)
def test_no_clock_however_wild_breaks_the_merge(
    clocks: list[tuple[float, float]], spans: list[tuple[float, float]]
) -> None:
    ticks = [tick(wall, monotonic=running) for wall, running in clocks]
    windows = [Window(at, T0 + start, T0 + end) for at, (start, end) in enumerate(spans)]
    facts = merge_windows(ticks, windows)
    assert [item.key for item in facts] == [window.key for window in windows]
    assert all(item.sys_used_mb in {None, 1000.0} for item in facts)
    assert all(item.sys_used_mb is None for item in facts if item.slept)


def test_ticks_come_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "resources.jsonl"
    ticks = [tick(0, start=True), tick(0.5, 1234.5, pressure="warn", thermal="other:Serious", power="ac")]
    with JsonlAppender(path) as out:
        for item in ticks:
            out.append(item.to_json())
    assert read_ticks(path) == ticks


def test_fields_of_a_later_version_are_passed_over_and_a_cut_line_too(tmp_path: Path) -> None:
    path = tmp_path / "resources.jsonl"
    path.write_text('{"ts": 1, "monotonic": 2, "fan_rpm": 1200, "pressure": 7}\n{"ts": 2, "mono')
    assert read_ticks(path) == [Tick(1.0, 2.0)]


@pytest.mark.parametrize("line", ["[]", '{"ts": "now", "monotonic": 1}', '{"ts": true, "monotonic": 1}', "{"])
def test_a_line_that_is_no_tick_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "resources.jsonl"
    path.write_text(f'{{"ts": 1, "monotonic": 2}}\n{line}\n')
    with pytest.raises(BadInputError, match=r"resources\.jsonl:2: not a"):
        read_ticks(path)
