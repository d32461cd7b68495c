"""The table of the typical run, in both languages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit.builders import Outcome, judged_suite, result
from touchstone.render.selection import selection_text
from touchstone.render.words import Language
from touchstone.result.select import Selection, select_typical

TABLES: tuple[dict[str, Any], ...] = (
    {"A": [4], "B": [4], "C": [4], "D": [1], "E": [5]},
    {"A": [5], "B": [3], "C": [5], "D": [4], "E": [5]},
    {"A": [3], "B": [5], "C": [3], "D": Outcome([5], flag=True), "E": [5]},
)


def chosen(*tables: dict[str, Any]) -> Selection:
    """The typical one of runs a, b, c from one launch of the engine."""
    suite = judged_suite(["A", "B", "C", "D", "E"], dimensions={"Q1": 1})
    return select_typical(
        [
            result(suite, table, id=name, draw=number, launch="1:1", started=f"2026-05-04T0{number}:00:00Z")
            for number, (name, table) in enumerate(zip("abc", tables, strict=True))
        ]
    )


def test_every_differing_row_shows_each_runs_value_and_the_middle() -> None:
    lines = selection_text(chosen(*TABLES)).splitlines()
    assert lines[0].split() == ["row", "run", "1", "run", "2", "run", "3", "in", "the", "middle"]
    assert lines[4].split() == [
        "D",
        "·",
        "none",
        "20.0",
        "%",
        "80.0",
        "%",
        "100.0",
        "%,",
        "1",
        "flagged",
        "run",
        "2",
    ]
    assert lines[5] == "(1 of 5 rows are the same in every run)"
    assert "typical: a (most often in the middle)" in lines
    assert any(line.startswith("⚠ The vote fell on a run whose total") for line in lines)
    assert any(line.startswith("⚠ At least two runs come from one launch") for line in lines)


def test_the_table_speaks_german() -> None:
    text = selection_text(chosen(*TABLES), "de")
    for told in (
        "Lauf 3", "in der Mitte", "1 beanstandet", "(1 von 5 Zeilen sind in jedem Lauf gleich)", "Aufrufe",
        "typisch: a (am häufigsten in der Mitte)", "⚠ Die Wahl fiel auf", "aus einem Start der Engine",
        "20,0 %",
    ):  # fmt: skip
        assert told in text
    assert "run" not in text.lower().split()


@pytest.mark.parametrize(
    ("language", "told"),
    [("en", "all 5 rows are the same in every run"), ("de", "alle 5 Zeilen sind in jedem Lauf gleich")],
)
def test_runs_that_do_not_differ_say_so(language: Language, told: str) -> None:
    same = chosen(TABLES[0], TABLES[0], TABLES[0])
    assert selection_text(same, language).startswith(told)
    assert ("gleichauf" if language == "de" else "tied") in selection_text(same, language)
