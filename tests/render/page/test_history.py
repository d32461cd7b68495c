"""Baselines over time: where the curve stands, where the prompt became another, and what has no number."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit import pages
from tests.kit.markup import markup
from touchstone.gate.history import History
from touchstone.render.page import history_html, page_html
from touchstone.render.page.history import Curve, HistoryView, history_views
from touchstone.render.words import Words

EN, DE = Words("en"), Words("de")


def view(history: History, words: Words = EN) -> HistoryView:
    (found,) = history_views([history], words)
    return found


def curve(history: History, name: str = "m · house") -> Curve:
    (found,) = [one for one in view(history).curves if one.name == name]
    return found


def with_cells(history: History, **fields: Any) -> History:
    """The history with fields of every cell of its middle promotion replaced."""
    middle = len(history.commits) // 2 - 1
    commits = list(history.commits)
    cells = [cell.model_copy(update=fields) for cell in commits[middle].cells]
    commits[middle] = commits[middle].model_copy(update={"cells": cells})
    return history.model_copy(update={"commits": commits})


def test_a_higher_score_stands_higher_and_time_goes_right() -> None:
    points = curve(pages.history()).points
    scores = [float(point.told.split(" · ")[2].removesuffix(" %")) for point in points]
    assert [point.x for point in points] == sorted(point.x for point in points)
    assert sorted(points, key=lambda point: -point.y) == [
        point for _, point in sorted(zip(scores, points, strict=True), key=lambda pair: pair[0])
    ]


def test_another_prompt_is_marked_in_the_chart_and_in_the_table() -> None:
    found = view(pages.history())
    house, none = curve(pages.history()), curve(pages.history(), "m · none")
    assert [number for number, point in enumerate(house.points) if point.marked] == [2, 5]
    assert not any(point.marked for point in none.points)
    assert found.marks == [house.points[2].x, house.points[5].x]
    changed = [cell.changed for promotion in found.promotions for cell in promotion.cells]
    assert changed.count(True) == 2
    assert found.promotions[0].cells[0].prompt == "none sent"


def test_an_unknown_score_is_a_gap_and_no_zero() -> None:
    gap = with_cells(pages.history(), pct=None)
    assert len(curve(gap).points) == len(curve(pages.history()).points) - 1
    assert len(curve(gap).segments) == len(curve(pages.history()).segments) - 2
    assert "n/a" in [cell.score for promotion in view(gap).promotions for cell in promotion.cells]
    assert "n. v." in markup(history_html([gap], "de")).text


def test_cells_with_one_score_do_not_hide_each_other() -> None:
    same = view(with_cells(pages.history(), pct=70.0))
    none, house = same.curves
    assert [point.layer for point in none.points] == [0] * 6
    assert [point.layer for point in house.points] == [0, 0, 0, 1, 0, 0]
    drawn = markup(history_html([with_cells(pages.history(), pct=70.0)]))
    assert {dot["r"] for _, dot in drawn.of("point") if "r" in dot} == {"3.5", "5"}
    twice = pages.history()
    commits = [
        agreed.model_copy(update={"cells": [cell.model_copy(update={"pct": 70.0}) for cell in agreed.cells]})
        for agreed in twice.commits
    ]
    flat = view(twice.model_copy(update={"commits": commits}))
    assert [layer for _, _, layer in flat.curves[0].segments] == [0] * 5
    assert [layer for _, _, layer in flat.curves[1].segments] == [1] * 5


def test_a_promotion_whose_safety_failed_is_marked() -> None:
    failed = with_cells(pages.history(), safety=False)
    # The middle promotion, and the one before it, whose safety failed in the scene itself.
    assert [number for number, point in enumerate(curve(failed).points) if point.unsafe] == [2, 3]
    assert "Safety ✗" in next(point.told for point in curve(failed).points if point.unsafe)
    assert "safety failed" in markup(history_html([failed])).text
    for fine in (with_cells(pages.history(), safety=True), with_cells(pages.history(), safety=None)):
        points = curve(fine).points
        assert [number for number, point in enumerate(points) if point.unsafe] == [2]
    assert "safety failed" not in markup(history_html([pages.history(2)])).text


def test_a_safety_that_failed_or_was_not_assessed_is_no_tick() -> None:
    marks = {
        value: {cell.safety for cell in view(with_cells(pages.history(), safety=value)).promotions[2].cells}
        for value in (True, False, None)
    }
    assert marks == {True: {"✓"}, False: {"✗"}, None: {"–"}}


def test_a_commit_without_a_number_is_named() -> None:
    assert view(pages.history()).faults == ["2025-12-01 · ffffffffffff · Ada: removed"]
    assert view(pages.history(), DE).faults == ["2025-12-01 · ffffffffffff · Ada: entfernt"]


def test_one_promotion_makes_no_curve() -> None:
    page = history_html([pages.history(1)])
    assert "One promotion so far: a curve needs two." in page
    assert not markup(page).of("chart")


@pytest.mark.parametrize(
    ("scores", "labels"),
    [
        ((70.0, 71.0), ["60 %", "70 %", "80 %"]),
        ((99.0, 100.0), ["80 %", "90 %", "100 %"]),
        ((0.0, 1.0), ["0 %", "10 %", "20 %"]),
        ((2.0, 99.0), ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]),
    ],
)
def test_the_axis_holds_all_scores_and_makes_no_mountain_of_noise(
    scores: tuple[float, float], labels: list[str]
) -> None:
    commits = [
        agreed.model_copy(update={"cells": [agreed.cells[0].model_copy(update={"pct": score})]})
        for agreed, score in zip(pages.history(2).commits, scores, strict=False)
    ]
    found = view(History(pack="p", file="f", commits=commits))
    assert [label for _, label in found.grid] == labels
    assert all(0 < point.y < 100 for point in found.curves[0].points)


def test_a_comparison_carries_its_history() -> None:
    page = page_html(pages.judged(), [pages.history()])
    assert markup(page).of("chart")
    assert 'href="#history"' in page
    assert 'href="#history"' not in page_html(pages.judged())
