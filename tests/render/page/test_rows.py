"""Rows of a page: their order, what is in sight and what folded, and what lies behind each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.kit import builders, pages
from touchstone.gate.page import Beside, PageFacts
from touchstone.render.comparison import moved_rows
from touchstone.render.page.plot import Axis, dumbbell, interval_axis, interval_plot
from touchstone.render.page.rows import ROWS_IN_SIGHT, ROWS_WITH_TEXTS, compared_groups, own_groups
from touchstone.render.words import Words

EN, DE = Words("en"), Words("de")


def beside(facts: PageFacts) -> Beside:
    assert facts.beside is not None
    return facts.beside


def test_moved_rows_come_first_then_new_and_gone_and_the_rest_is_folded() -> None:
    facts = pages.judged()
    groups = compared_groups(facts, beside(facts), EN)
    assert [group.title for group in groups] == [
        "Rows that moved, worst first",
        "New rows, not compared",
        "Rows that are gone",
        "Further rows: 7 unchanged",
    ]
    assert [group.folded for group in groups] == [False, False, False, True]
    shown = [(row.prompt, row.variant) for row in groups[0].rows]
    assert shown == [(row.prompt, row.variant) for row in moved_rows(beside(facts).comparison)]
    total = sum(len(group.rows) for group in groups)
    assert total == len(beside(facts).comparison.rows), "every row is somewhere"


def test_many_rows_are_folded_by_the_hundred() -> None:
    facts = pages.many(620)
    first, *rest = compared_groups(facts, beside(facts), DE)
    assert len(first.rows) == ROWS_IN_SIGHT
    assert not first.folded
    assert rest[0].title == "Bewegte Zeilen, schlechteste zuerst: 101 bis 200"
    assert all(group.folded for group in rest)
    assert [len(group.rows) for group in rest] == [100, 100, 100, 100, 100, 20]
    rows = [row for group in (first, *rest) for row in group.rows]
    assert [row.behind is not None for row in rows] == [number < ROWS_WITH_TEXTS for number in range(620)]


def test_where_nothing_moved_everything_is_in_one_list() -> None:
    facts = pages.many(30, moved=False)
    (group,) = compared_groups(facts, beside(facts), EN)
    assert not group.folded
    assert group.title == "Further rows: 30 unchanged"


def test_behind_a_row_stand_the_question_both_answers_and_the_judges_words() -> None:
    facts = pages.judged()
    rows = compared_groups(facts, beside(facts), EN)[0].rows
    row = next(row for row in rows if (row.prompt, row.variant) == ("C2", "house"))
    behind = row.behind
    assert behind is not None
    assert behind.question == "Question C2: what do I do now?"
    assert behind.old is not None
    assert behind.new is not None
    assert "About C2, as the house desk" in behind.old.start + behind.old.middle + behind.old.end
    assert behind.rationale == "Because it is so."
    assert behind.command == f"touchstone show {facts.result.run.id} C2"
    assert not behind.same


def test_the_same_answer_stands_once() -> None:
    facts = pages.many(3, moved=False)
    (group,) = compared_groups(facts, beside(facts), EN)
    assert all(row.behind is not None and row.behind.same for row in group.rows)


def test_an_answer_nobody_kept_is_said_to_be_so() -> None:
    facts = pages.judged()
    unkept = replace(beside(facts), answers={})
    for words, said in ((EN, "not kept"), (DE, "nicht aufbewahrt")):
        row = compared_groups(facts, unkept, words)[0].rows[1]
        assert row.behind is not None
        assert row.behind.old is None
        assert row.behind.told_old == said


def test_the_repeat_that_differs_is_shown_and_named() -> None:
    facts = pages.judged()
    row = beside(facts).comparison.rows[0]
    key = (row.model, row.variant, row.prompt)
    changed = replace(
        facts,
        answers={key: ["one", "two", "other"]},
        rationales={key: ["first", "second", None]},
        beside=replace(beside(facts), answers={key: ["one", "too", "three"]}),
    )
    groups = compared_groups(changed, beside(changed), EN)
    (found,) = [shown for group in groups for shown in group.rows if (shown.variant, shown.prompt) == key[1:]]
    assert found.behind is not None
    assert found.behind.repeat == "repeat 2 of 3"
    assert found.behind.rationale == "second"


def test_a_run_by_itself_shows_what_fell_short_first() -> None:
    short, passed = own_groups(pages.alone(), EN)
    assert short.rows[0].state == "error"
    assert {row.state for row in short.rows} == {"error", "fail"}
    assert {row.state for row in passed.rows} == {"pass"}
    assert passed.folded
    assert passed.title == f"Rows that passed: {len(passed.rows)}"


# Drawings


def test_a_row_that_passed_with_a_cut_answer_says_so() -> None:
    suite = builders.judged_suite()
    table = {"A1": builders.Outcome((5, 5), status="truncated"), "A2": (5, 5)}
    facts = replace(pages.alone(), result=builders.result(suite, table))
    told = {row.prompt: row.told for group in own_groups(facts, EN) for row in group.rows}
    assert told == {"A1": "pass, truncated", "A2": "pass"}


def test_a_dumbbell_stands_where_its_values_are() -> None:
    plot = dumbbell(0, 100, spread=(20, 40, None), draws=(90, 100, 90))
    assert (plot.old, plot.new) == (3, 97)
    assert plot.band is not None
    assert list(plot.band) == [pytest.approx(21.8), pytest.approx(18.8)]
    assert plot.dots == [pytest.approx(87.6), 97]


def test_what_is_not_known_has_no_place() -> None:
    plot = dumbbell(None, None, spread=(None, 50), draws=(None,))
    assert (plot.old, plot.new, plot.band, plot.mark) == (None, None, None, None)
    assert not plot.dots


def test_values_beyond_an_axis_stand_at_its_edge() -> None:
    assert Axis(1, 5).at(0) == 3
    assert Axis(1, 5).at(9) == 97


def test_intervals_of_all_cells_share_one_axis_around_zero() -> None:
    axis = interval_axis([-40, 4])
    assert [axis.low, axis.high] == [-40, 40]
    plot = interval_plot(axis, -20, (-40, 0))
    assert [plot.zero, *plot.bar] == [50, 3, 47]
    assert plot.at == pytest.approx(26.5)
    assert interval_axis([1]).high == 10, "a small difference does not fill the width"
