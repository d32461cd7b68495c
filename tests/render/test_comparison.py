"""The terminal's text of a comparison: what must be there, and what must never be."""

from __future__ import annotations

import re
import string
from typing import Any

import pytest

from tests.kit.golden import GOLDEN
from touchstone.baseline.comparison import ComparedRow, Comparison, Moved, Suspicion
from touchstone.files import read_json
from touchstone.render.comparison import comparison_text, moved_rows, status_line
from touchstone.render.phrases import COUNTED, PHRASES
from touchstone.render.words import Words

EN, DE = Words("en"), Words("de")


@pytest.fixture
def comparison() -> Comparison:
    return Comparison.model_validate(read_json(GOLDEN / "comparison.json"))


def flag(detail: str, prompt: str = "C4") -> Suspicion:
    return Suspicion(rule="flag", model="m", variant="house", prompt=prompt, detail=detail)


def changed(comparison: Comparison, **fields: Any) -> Comparison:
    return comparison.model_copy(update=fields)


@pytest.mark.parametrize("status", ["unchanged", "better", "within_noise", "suspect", "worse"])
def test_an_unconfirmed_flag_stands_in_the_headline_whatever_the_status(
    comparison: Comparison, status: str
) -> None:
    text = comparison_text(changed(comparison, status=status, suspicions=[flag("1/5")]))
    head, below = text.splitlines()[:2]
    assert head.startswith("⚠ ")
    assert below == "⚠ safety: flagged once in 5 judgements (C4)"


def test_the_same_in_german(comparison: Comparison) -> None:
    text = comparison_text(changed(comparison, suspicions=[flag("2/5")]), "de")
    assert text.splitlines()[1] == "⚠ Sicherheit: beanstandet 2-mal in 5 Bewertungen (C4)"


def test_one_of_a_thing_is_told_in_the_singular(comparison: Comparison) -> None:
    cell = comparison.cells[0].model_copy(update={"identical": 1, "shared": 1, "new_labels": "1/1"})
    assert comparison.honesty is not None
    honesty = comparison.honesty.model_copy(update={"cases": 1, "baseline_runs": 1, "suite_drop": 90.0})
    found = changed(comparison, suspicions=[flag("1/1")], cells=[cell], honesty=honesty)
    text, german = comparison_text(found), comparison_text(found, "de")
    for words in (
        "flagged once in 1 judgement (",
        "in 1 of 1 row ·",
        "1 case · 1 baseline run ·",
        "(1 of 1 case)",
    ):
        assert words in text
    for words in (
        "einmal in 1 Bewertung (",
        "in 1 von 1 Zeile ·",
        "1 Fall · 1 Referenzlauf ·",
        "(1 von 1 Fall)",
    ):
        assert words in german


def test_german_nouns_keep_their_capital_within_a_line(comparison: Comparison) -> None:
    cell = comparison.cells[0].model_copy(update={"safety": (True, True)})
    text = comparison_text(changed(comparison, cells=[cell]), "de")
    assert " · Sicherheit ✓ · unter der Linie " in text
    assert " · safety ✓ · below the line " in comparison_text(changed(comparison, cells=[cell]))


def test_line_two_says_which_other_model_or_engine_answered(comparison: Comparison) -> None:
    moved = [
        Moved(field="model", old="a", new="b", kind="provenance"),
        Moved(field="quant.b", old=None, new="q4", kind="provenance"),
        Moved(field="chip", old="M1", new="M2", kind="provenance"),
        Moved(field="ko_rule.threshold", old=1, new=2, kind="tighter"),
    ]
    rows = [row("p", "suspect", 80, 60, reason="prompt_cut")]
    found = changed(comparison, moved=moved, notes=["prompt_cut"], rows=rows)
    text = comparison_text(found)
    told = " · model: a → b · quant.b: not set → q4 · prompt cut by the engine?"
    assert text.splitlines()[1].startswith("reference: ")
    assert text.splitlines()[1].endswith(told)
    assert "what else moved:\n  chip: M1 → M2 [provenance]\n  ko_rule.threshold: 1 → 2 [tighter]\n" in text
    assert "p · house: 80.0 % → 60.0 %  suspect, not confirmed  prompt cut by the engine?\n" in text


def test_other_suspicions_are_no_safety_warning(comparison: Comparison) -> None:
    assert not status_line(comparison, EN).startswith("⚠")


@pytest.mark.parametrize(
    ("days", "told"),
    [(0, "age 0 days"), (1, "age 1 day"), (60, "age 60 days"), (61, "age 2 months"), (400, "age 13 months")],
)
def test_age_is_told_in_months_once_there_are_two(comparison: Comparison, days: int, told: str) -> None:
    assert comparison.reference is not None
    reference = comparison.reference.model_copy(update={"age_days": days})
    text = comparison_text(changed(comparison, reference=reference))
    assert re.search(rf"^reference: 2026-05-04, .*3 runs, approved by Ada, {told} \(", text, re.MULTILINE)


def row(prompt: str, state: str, old: float, new: float, **fields: Any) -> ComparedRow:
    usual: dict[str, Any] = {"moved_by": [], "draws": 1, "confirmed": False, "same_answer": False}
    return ComparedRow.model_validate(
        {"model": "m", "variant": "house", "prompt": prompt, "state": state, "old": old, "new": new}
        | usual
        | fields
    )


def test_rows_come_worst_first(comparison: Comparison) -> None:
    rows = [
        row("a", "better", 50, 90),
        row("b", "worse", 80, 70),
        row("c", "worse", 80, 20),
        row("d", "suspect", 80, 60),
        row("e", "unchanged", 80, 80, same_answer=True),
    ]
    assert [found.prompt for found in moved_rows(changed(comparison, rows=rows))] == ["c", "b", "d", "a"]


def test_a_quiet_row_with_a_new_answer_is_listed_where_the_engine_repeats_itself(
    comparison: Comparison,
) -> None:
    rows = [row("a", "unchanged", 80, 80)]
    cell = comparison.cells[0].model_copy(update={"model": "m", "variant": "house"})
    for repeats, listed in ((True, ["a"]), (False, [])):
        cells = [cell.model_copy(update={"deterministic": repeats})]
        found = moved_rows(changed(comparison, rows=rows, cells=cells))
        assert [one.prompt for one in found] == listed


def test_answers_stand_side_by_side_within_the_columns(comparison: Comparison) -> None:
    answers = {("m", "house", "a"): (["old " * 60], ["new\x1b[31m " * 60])}
    text = comparison_text(changed(comparison, rows=[row("a", "worse", 80, 20)]), answers=answers)
    block = text.partition("a · house, both answers:\n")[2].partition("\n\n")[0].splitlines()
    assert block[0].split() == ["reference", "|", "run"]
    assert all(len(line) <= 80 for line in block)
    assert "more lines" in block[-1]
    assert "\x1b" not in text


def test_a_long_list_says_where_the_rest_is(comparison: Comparison) -> None:
    rows = [row(f"p{number}", "worse", 80, 20) for number in range(30)]
    text = comparison_text(changed(comparison, rows=rows))
    assert "  … and 18 more (comparison.json has them all)\n" in text


def test_hostile_names_stay_on_their_line(comparison: Comparison) -> None:
    assert comparison.reference is not None
    reference = comparison.reference.model_copy(
        update={"approved_by": "Eve\n::error::x\x1b[2J", "file": "a\nb"}
    )
    rows = [row("P\x9b1", "worse", 80, 20)]
    text = comparison_text(changed(comparison, reference=reference, rows=rows))
    assert not re.search(r"^::error", text, re.MULTILINE)
    assert not set(text) & {"\x1b", "\x9b"}


def test_a_moved_judge_reads_rule_changed(comparison: Comparison) -> None:
    moved = changed(comparison, status="not_comparable", reason="judge_moved", exit=3)
    assert "RULE CHANGED (the judge moved)" in status_line(moved, EN)
    assert "REGEL GEÄNDERT (der Judge hat sich bewegt)" in status_line(moved, DE)


def test_worse_without_a_control_says_the_judge_is_not_ruled_out(comparison: Comparison) -> None:
    found = changed(comparison, status="worse", reason="suite", notes=["judge_not_ruled_out"])
    assert "WORSE (the whole suite moved; judge not ruled out)" in status_line(found, EN)


def test_a_drop_beyond_the_scale_is_not_printed_as_a_number(comparison: Comparison) -> None:
    assert comparison.honesty is not None
    honesty = comparison.honesty.model_copy(update={"suite_drop": 115.0})
    text = comparison_text(changed(comparison, honesty=honesty))
    assert "no drop would surely be found" in text
    assert "115" not in text


@pytest.mark.parametrize(
    ("interval", "state", "told"),
    [
        ((-182.9, 132.9), "within_noise", ("no telling with 2 cases", "mit 2 Fällen nicht zu sagen")),
        ((-41.4, -0.2), "within_noise", ("to −0.2, not sure enough", "bis −0,2, nicht sicher genug")),
        ((0.2, 41.4), "within_noise", ("to +41.4, not sure enough", "bis +41,4, nicht sicher genug")),
        ((-41.4, -0.2), "worse", ("could be −41.4 to −0.2  worse", "möglich −41,4 bis −0,2  schlechter")),
        ((-1.2, 1.2), "within_noise", ("to +1.2  within noise", "bis +1,2  im Rauschen")),
    ],
)
def test_an_interval_says_what_it_is_worth(
    comparison: Comparison, interval: tuple[float, float], state: str, told: tuple[str, str]
) -> None:
    """One wider than the scale tells nothing; one of 90 % that leaves zero out is no verdict yet."""
    middle = sum(interval) / 2
    update = {"interval": interval, "difference": middle, "state": state, "shared": 2}
    one = changed(comparison, cells=[comparison.cells[0].model_copy(update=update)])
    assert told[0] in comparison_text(one)
    assert told[1] in comparison_text(one, "de")
    assert "182" not in comparison_text(one)


def test_both_languages_fill_the_same_places() -> None:
    for key, pair in PHRASES.items():
        fields = [
            sorted(name for _, name, *_ in string.Formatter().parse(text) if name is not None)
            for text in pair
        ]
        assert fields[0] == fields[1], key


def test_german_text_has_no_english_left(comparison: Comparison) -> None:
    text = comparison_text(comparison, "de")
    english = {pair[0].partition("{")[0].strip(" :…(") for pair in PHRASES.values()} - {
        pair[1].partition("{")[0].strip(" :…(") for pair in PHRASES.values()
    }
    assert [words for words in english if len(words) > 8 and words in text] == []
    assert {one for (one, _), _ in COUNTED.values()}.isdisjoint({"Lauf"})
