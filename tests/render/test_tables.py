"""The scorecard, and the table for a spreadsheet."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit import builders
from tests.kit.builders import Outcome, Repeats
from tests.kit.hostile import HOSTILE, SNIPPETS
from tests.kit.markdown import found_in_text, links, tags
from touchstone.render.csv import result_csv
from touchstone.render.reading import Reading
from touchstone.render.scorecard import scorecard_markdown
from touchstone.result.schema import ResultDoc

hostile = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)


def lines_of(result: ResultDoc) -> list[dict[str, str]]:
    text = result_csv(result)
    assert text.endswith("\n")
    assert "\r" not in text
    return list(csv.DictReader(io.StringIO(text), strict=True))


def judged() -> ResultDoc:
    repeats = {"A1": 2, "A2": 1, "A3": 1}
    suite = builders.judged_suite(list(repeats), thresholds={"Q1": 3.5}, repeats=repeats)
    return builders.result(suite, {"A1": Repeats([(4, 5), (2, 5)]), "A2": None})


def test_a_line_per_row_and_repeat() -> None:
    lines = lines_of(judged())
    assert [(line["prompt"], line["repeat"]) for line in lines] == [
        ("A1", "1"), ("A1", "2"), ("A2", "1"), ("A3", "1"),
    ]  # fmt: skip
    assert [line["score.Q1"] for line in lines] == ["4", "2", "", ""]
    assert [line["row_pct"] for line in lines] == ["70", "70", "", ""]
    assert [line["row_state"] for line in lines] == ["fail", "fail", "error", ""]


def test_what_is_not_known_is_empty_and_never_zero() -> None:
    line = lines_of(judged())[3]
    known = {key for key, value in line.items() if value}
    assert known == {"run", "pack", "model", "variant", "category", "prompt", "repeat"}


def test_without_a_verdict_nothing_is_said_to_be_above_the_line() -> None:
    failed = builders.result(builders.judged_suite(), dict.fromkeys(["A1", "A2"], Outcome(status="error")))
    assert [(line["row_state"], line["row_below_line"]) for line in lines_of(failed)] == [("error", "")] * 2
    [row] = [line for line in scorecard_markdown(Reading(failed)).splitlines() if line.startswith("| m ")]
    assert row.endswith("| n/a |")


def test_checks_have_their_outcome_and_their_score() -> None:
    suite = builders.checks_suite(["A1", "A2"])
    lines = lines_of(builders.result(suite, {"A1": 0.0, "A2": Outcome(checks={"contains": None})}))
    assert [(line["check.contains"], line["check.contains.score"]) for line in lines] == [
        ("fail", "0"), ("error", ""),
    ]  # fmt: skip


@hostile
def test_no_text_becomes_a_formula_a_field_or_a_line(text: str) -> None:
    _assert_a_field(text)


@given(st.lists(st.sampled_from(SNIPPETS) | st.text(max_size=20), max_size=4).map("".join))
def test_no_mixture_becomes_a_formula(text: str) -> None:
    _assert_a_field(text)


def _assert_a_field(text: str) -> None:
    plain = judged()
    rows = [row.replaced(model=text) for row in plain.rows]
    lines = lines_of(plain.model_copy(update={"rows": rows}))
    assert len(lines) == 4
    for line in lines:
        assert line["prompt"].startswith("A")
        assert not line["model"].startswith(("=", "+", "-", "@", "\t", "\r", "|", "%"))
        assert None not in line


def test_a_negative_number_stays_a_number() -> None:
    assert lines_of(judged())[0]["completion_tokens"].isdigit()


def test_the_scorecard_is_the_reports_beginning_and_its_cells() -> None:
    assert scorecard_markdown(Reading(judged()), "de") == (
        "**0 bestanden · 1 nicht bestanden · 1 Fehler** · 2/4 bewertet\n"
        "\n"
        "Modell: m · Judge: judge-7b n. v. · T=0 · seed=42\n"
        "\n"
        "> Dieser Lauf ist nicht vollständig: 3 von 4 beantwortet.\n"
        "\n"
        "| Modell | Variante | Rubrik-Stufe | Sicherheit | Bewertet | Checks | Antwort-Tokens (Median) "
        "| Unter der Linie |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
        "| m | none | solide · 70,0 % | – nicht beurteilt: 2 von 3 nicht bewertet | 2/4 | – | 9 | 1 |\n"
    )


@hostile
def test_nothing_hostile_is_live_in_a_scorecard(text: str) -> None:
    plain = judged()
    cells = [cell.model_copy(update={"model": text, "variant": text}) for cell in plain.cells]
    told = scorecard_markdown(Reading(plain.model_copy(update={"cells": cells})))
    assert found_in_text(told) == []
    assert links(told) == []
    assert tags(told) <= {"<span>", "</span>"}
