"""The report: its order, what it says of lengths and of what is missing, on GitHub and in Obsidian."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.kit import builders, reviews
from tests.kit.builders import Outcome, Repeats, judged_suite
from tests.kit.hostile import HOSTILE
from tests.kit.markdown import found_in_text, links, parsed, tags
from touchstone.render.flavour import GITHUB, OBSIDIAN, Flavour
from touchstone.render.plain import one_line
from touchstone.render.reading import Reading
from touchstone.render.report import length_notices, report_text
from touchstone.render.report_rows import ANSWER_CHARS_MAX, ANSWERS_SHOWN_MAX, REPEATS_SHOWN_MAX
from touchstone.render.words import Language, Words
from touchstone.result.schema import Cell, ResultDoc

TABLE: dict[str, Any] = {
    "A1": Outcome((2, 4), text="One."),
    "A2": Outcome((5, 5), text="Two."),
    "B1": Outcome((4, 4), flag=True, text="Three."),
    "B2": None,
}
ANSWERS = {("m", "none", prompt): [f"Answer to {prompt}."] for prompt in TABLE}
RATIONALES = {("m", "none", prompt): [f"Because of {prompt}."] for prompt in TABLE}


def judged(**fields: Any) -> ResultDoc:
    return builders.result(judged_suite(list(TABLE), thresholds={"Q1": 3}), TABLE, **fields)


def reading(result: ResultDoc | None = None, **fields: Any) -> Reading:
    usual: dict[str, Any] = {"answers": ANSWERS, "rationales": RATIONALES}
    return Reading(result or judged(), **(usual | fields))


def headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("#")]


# --- order and content -------------------------------------------------------------------------------


def test_counts_come_first_then_model_and_judge_then_everything_in_order() -> None:
    text = report_text(reading())
    lines = text.splitlines()
    assert lines[0] == "**2 pass · 1 fail · 1 error** · 3/4 judged"
    assert lines[2] == "Model: m · Judge: judge-7b n/a · T=0 · seed=42"
    assert headings(text) == [
        "## Provenance", "## Results", "## Categories", "## Dimensions", "## Rows, worst first",
        "## Timing", "## Machine meanwhile", "## What this can see",
    ]  # fmt: skip


def test_a_missing_judge_is_loud_in_both_languages() -> None:
    unjudged = reading(judged(judged=None))
    assert "**Judge: not recorded**" in report_text(unjudged)
    assert "**Judge: nicht erfasst**" in report_text(unjudged, "de", OBSIDIAN)


def test_categories_have_a_share_of_each_cell() -> None:
    lines = report_text(reading()).splitlines()
    assert "| A | 75.0 % (1/2 pass) |" in lines
    assert "| B | 80.0 % (1/2 pass) |" in lines


def test_the_worst_rows_are_told_with_answer_verdict_and_the_judges_words() -> None:
    text = report_text(reading())
    answers = text.partition("<details>")[2].partition("## Timing")[0]
    assert re.findall(r"<summary>(.*)</summary>", text) == [
        "<code>B2 · none</code>: n/a, error", "<code>A1 · none</code>: 50.0 %, fail",
        "<code>B1 · none</code>: 80.0 %, pass",
    ]  # fmt: skip
    assert "Q1 2 · Q2 4\n\n```text\nAnswer to A1.\n```\n\nJudge: Because of A1.\n" in answers
    assert "Q1 4 · Q2 4 · red flag\n" in answers, "a flag is shown though the row passes"
    assert "Answer to A2." not in answers


def test_where_nothing_fell_short_the_lowest_rows_are_told() -> None:
    table = {f"A{n}": (score, 5) for n, score in enumerate((5, 4, 5, 3, 2, 1), 1)}
    result = builders.result(judged_suite(list(table)), table)
    text = report_text(Reading(result, {row.key: ["Yes."] for row in result.rows}))
    assert re.findall(r"<summary><code>(A\d)", text) == ["A6", "A5", "A4"]


def test_more_rows_than_are_shown_are_counted() -> None:
    table = dict.fromkeys((f"A{n:02}" for n in range(ANSWERS_SHOWN_MAX + 3)), (1, 1))
    result = builders.result(judged_suite(list(table), thresholds={"Q1": 3}), table)
    text = report_text(Reading(result, {row.key: ["No."] for row in result.rows}))
    assert text.count("<details>") == ANSWERS_SHOWN_MAX
    assert "… and 3 more (responses.jsonl has them all)" in text


def test_of_many_repeats_the_first_are_shown() -> None:
    suite = judged_suite(["A"], repeats=REPEATS_SHOWN_MAX + 2)
    result = builders.result(suite, {"A": Repeats([[1, 1]] * (REPEATS_SHOWN_MAX + 2))})
    texts = [f"Number {n}." for n in range(1, REPEATS_SHOWN_MAX + 3)]
    text = report_text(Reading(result, {("m", "none", "A"): texts}))
    assert text.count("Number ") == REPEATS_SHOWN_MAX
    assert "… and 2 more repeats (responses.jsonl has them all)" in text


def test_an_answer_without_end_is_shown_as_far_as_it_may_be_read() -> None:
    answers = ANSWERS | {("m", "none", "A1"): ["x" * (ANSWER_CHARS_MAX + 7)]}
    text = report_text(reading(answers=answers))
    assert (
        f"{'x' * ANSWER_CHARS_MAX}\n```\n\n… and 7 more characters (responses.jsonl has them all)\n" in text
    )


def test_every_repeat_is_told_with_its_own_words() -> None:
    suite = judged_suite(["A1"], thresholds={"Q1": 3}, repeats=2)
    result = builders.result(suite, {"A1": Repeats([(1, 1), (2, 2)])})
    key = ("m", "none", "A1")
    text = report_text(Reading(result, {key: ["First.", "Second."]}, {key: ["Why one.", None]}))
    assert text.index("First.") < text.index("Why one.") < text.index("Second.")


def test_several_models_are_named_with_each_answer() -> None:
    table = {"A1": (1, 1)}
    result = builders.result(judged_suite(["A1"], thresholds={"Q1": 3}), table, models=["m", "n"])
    text = report_text(Reading(result, {row.key: ["No."] for row in result.rows}))
    assert re.findall(r"<code>(.*)</code>", text) == ["A1 · none · m", "A1 · none · n"]


def test_labels_stand_with_their_counts() -> None:
    suite = builders.labelled_suite({"A1": "relevant", "A2": "other", "A3": "relevant"})
    result = builders.result(suite, {"A1": "relevant", "A2": "relevant", "A3": "relevant"})
    assert "precision 0.667 (2/3), recall 1.000 (2/2), F1 0.800 (4/5)" in report_text(Reading(result))


def test_a_run_alone_says_how_little_it_can_say() -> None:
    english, german = (report_text(reading(), language).splitlines() for language in ("en", "de"))
    assert (
        "4 cases, one run: how far the next run of the same system would land is not known from it" in english
    )
    assert any(line.startswith("4 Fälle, ein Lauf: wo der nächste Lauf") for line in german)


def test_what_it_is_held_against_comes_first_and_brings_what_can_be_seen() -> None:
    worse = reviews.worse()
    text = report_text(Reading(reviews.result(), comparison=worse, both=reviews.answers(worse)))
    lines = text.splitlines()
    assert lines[0].startswith("# 🔴 pack: WORSE")
    assert lines.index("# The run") < lines.index("**11 pass · 0 fail · 0 error**")
    assert "**Prompt of variant `house`, old → new**" in lines
    assert "-Be short." in lines
    assert any(line.startswith("what this suite can see: ") for line in lines)
    assert "one run: how far" not in text


def test_a_comparison_with_safety_in_doubt_is_not_green() -> None:
    told = reviews.unchanged().model_copy(update={"notes": ["red_flag_unconfirmed"]})
    assert report_text(Reading(reviews.result(), comparison=told)).startswith("# 🟡 ")


# --- lengths -----------------------------------------------------------------------------------------


def with_cells(*cells: tuple[str, str, float | None, float | None], chars: bool = False) -> ResultDoc:
    """A result whose cells are (model, variant, pct, median tokens)."""
    plain = judged()
    (cell,) = plain.cells
    return plain.model_copy(update={"cells": [_cell(cell, *given, chars=chars) for given in cells]})


def _cell(
    cell: Cell, model: str, variant: str, pct: float | None, tokens: float | None, *, chars: bool
) -> Cell:
    assert cell.quality is not None
    lengths = (
        {"answer_tokens_med": None, "answer_chars_med": tokens}
        if chars
        else {"answer_tokens_med": tokens, "answer_chars_med": 1.0}
    )
    quality = cell.quality.model_copy(update={"pct": pct})
    return cell.model_copy(update={"model": model, "variant": variant, "quality": quality} | lengths)


NOTICE: dict[Language, str] = {
    "en": "⚠ possible length confound: the higher-scored variant »b« is {} % longer; "
    "LLM judges are known to favour length",
    "de": "⚠ Längen-Confound möglich: höher bewertete Variante »b« ist {} % länger; "
    "LLM-Judges haben bekannten Längen-Bias",
}


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(
    ("short", "long", "percent"),
    [(100, 119, None), (1000, 1199, None), (10_000, 11_999, None), (100, 120, "20"), (1000, 1200, "20"),
     (5, 6, "20"), (7.5, 9, "20"), (1016, 1473, "45"), (100, 80, None)],
)  # fmt: skip
def test_the_notice_fires_from_20_percent(
    short: float, long: float, percent: str | None, language: Language
) -> None:
    result = with_cells(("m", "a", 76.2, short), ("m", "b", 88.8, long))
    expected = [] if percent is None else [NOTICE[language].format(percent)]
    assert length_notices(result, Words(language)) == expected
    assert ("> ⚠" in report_text(Reading(result), language)) is bool(expected)


@pytest.mark.parametrize(
    ("low", "high"), [(88.8, 76.2), (80, 80), (None, 80), (80, None)]
)  # the longer one scored lower, the same, or one has no score
def test_no_notice_where_the_longer_one_did_not_score_higher(low: float | None, high: float | None) -> None:
    assert length_notices(with_cells(("m", "a", low, 100), ("m", "b", high, 200)), Words()) == []


def test_every_pair_of_one_models_variants_is_told_and_no_other() -> None:
    result = with_cells(
        ("m", "a", 50, 100),
        ("m", "b", 60, 130),
        ("m", "c", 70, 200),
        ("n", "d", 90, 400),
        ("n", "e", 80, 390),
    )
    told = [re.findall(r"»(\w)«", notice) for notice in length_notices(result, Words("de"))]
    assert told == [["b", "a"], ["c", "a"], ["c", "b"]]


def test_characters_stand_in_for_tokens_and_say_so() -> None:
    result = with_cells(("m", "a", 50, 100), ("m", "b", 60, 120), chars=True)
    (told,) = length_notices(result, Words())
    assert told.endswith("(measured in characters, because tokens were not counted)")
    assert "| 120 characters |" in report_text(Reading(result))
    assert "| 120 Zeichen |" in report_text(Reading(result), "de")
    half = result.model_copy(
        update={"cells": [result.cells[0], result.cells[1].model_copy(update={"answer_chars_med": None})]}
    )
    assert length_notices(half, Words()) == []


def test_an_empty_answer_is_no_measure_of_length() -> None:
    assert length_notices(with_cells(("m", "a", 50, 0), ("m", "b", 60, 120)), Words()) == []


# --- what is missing ---------------------------------------------------------------------------------


def unknown() -> ResultDoc:
    """A run of which nothing is known but that it was asked."""
    host = {"chip": None, "ram_gb": None, "os": None, "python": "3.13.1"}
    nothing = {"ttft_s": None, "e2e_s": None, "decode_tps": None, "completion_tokens": None}
    return builders.result(
        judged_suite(["A1", "A2"], critical=["A1"]),
        {"A1": Outcome(text="", response=nothing), "A2": Outcome(text="", response=nothing)},
        judged=None,
        host=host,
        engine={"engine": None, "engine_version": None, "origins": {}},
        git={"commit": None, "clean": None},
    )


@pytest.mark.parametrize("flavour", [GITHUB, OBSIDIAN], ids=["github", "obsidian"])
@pytest.mark.parametrize(("language", "na"), [("en", "n/a"), ("de", "n. v.")])
def test_what_is_missing_reads_as_missing(flavour: Flavour, language: Language, na: str) -> None:
    text = report_text(Reading(unknown()), language, flavour)
    body = text.rpartition("---\n")[2] if flavour is OBSIDIAN else text
    assert "✓" not in body
    assert not re.search(r"\b0[.,]0+ ?(%|s|GB)", body)
    told = [
        line
        for line in text.splitlines()
        if re.match(r"\| (Chip|RAM|Engine|Commit|Quant|Runtime|Lauf)", line)
    ]
    assert told
    assert all(line.endswith(f"| {na} |") for line in told if "Laufzeit" in line or "Lauf" not in line)
    words = Words(language)
    assert f"| m | none | {na} | {words['not_assessed']} | 0/2 | – |" in text


def test_unknown_is_null_in_the_frontmatter() -> None:
    found = frontmatter(report_text(Reading(unknown()), "en", OBSIDIAN))
    null = {key for key, value in found.items() if value is None}
    assert {"commit", "clean", "judge_model", "engine", "chip", "ram_gb", "os"} <= null
    assert found["complete"] is False
    (cell,) = found["cells"]
    assert (cell["pct"], cell["rubric_level"], cell["safety_passed"]) == (None, None, None)


def test_a_category_that_nobody_judged_has_no_number() -> None:
    result = builders.result(judged_suite(["A1", "B1"]), {"A1": (4, 4), "B1": None})
    assert "| B | n/a |" in report_text(Reading(result)).splitlines()


def test_safety_that_is_not_assessed_is_neither_passed_nor_failed() -> None:
    result = builders.result(judged_suite(["A1", "A2"], critical=["A1"]), {"A1": None, "A2": (4, 4)})
    (row,) = (
        line for line in report_text(Reading(result)).splitlines() if line.startswith("| m | none | solid")
    )
    assert "| – not assessed: A1 unscored |" in row


# --- Obsidian ----------------------------------------------------------------------------------------


def frontmatter(text: str) -> dict[str, Any]:
    assert text.startswith("---\n")
    found = yaml.safe_load(text[4:].partition("\n---\n")[0])
    assert isinstance(found, dict)
    return found


def test_the_frontmatter_holds_canonical_values_in_any_language() -> None:
    english, german = (frontmatter(report_text(reading(), language, OBSIDIAN)) for language in ("en", "de"))
    assert english == german
    assert english["pack"] == "pack"
    assert english["judge_model"] == "judge-7b"
    assert english["tags"] == ["touchstone", "touchstone/pack"]
    (cell,) = english["cells"]
    assert (cell["rubric_level"], cell["safety_passed"]) == ("solide", False)


def test_obsidian_links_model_and_judge_and_folds_into_callouts() -> None:
    text = report_text(reading(), "en", OBSIDIAN)
    assert "\nModel: [[m]] · Judge: [[judge-7b]] n/a · T=0 · seed=42\n" in text
    assert (
        "\n> [!quote]- A1 · none: 50.0 %, fail\n> Q1 2 · Q2 4\n> \n> ```text\n> Answer to A1.\n> ```\n"
        "> \n> Judge: Because of A1.\n\n"
    ) in text
    unfinished = builders.result(judged_suite(["A1", "A2"]), {"A1": (4, 4)})
    notice = "\n> [!warning] This run is not complete: 1 of 2 answered.\n"
    assert notice in report_text(Reading(unfinished), "en", OBSIDIAN)
    assert "<details>" not in text


def test_every_line_of_a_folded_answer_stays_in_its_callout() -> None:
    result = judged()
    answers = {row.key: ["one\n\n# out\n\nlast"] for row in result.rows}
    lines = report_text(Reading(result, answers), "en", OBSIDIAN).splitlines()
    told = [line for line in lines if line.endswith(("# out", "last"))]
    assert len(told) == 2 * 3
    assert all(line.startswith("> ") for line in told)


def test_the_two_flavours_tell_the_same_tables() -> None:
    tables = [
        [line for line in report_text(reading(), "en", flavour).splitlines() if line.startswith("|")]
        for flavour in (GITHUB, OBSIDIAN)
    ]
    assert tables[0] == tables[1]


# --- hostile texts -----------------------------------------------------------------------------------

SHORT = {name: text for name, text in HOSTILE.items() if len(text) < 1_500}
_OURS = re.compile(r"\[\[[\w .+-]+\]\]")
_INLINE_CODE = re.compile(r"(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)")


def without_code(text: str) -> str:
    """A document's source without blocks and spans of code, escapes left in, and without links of ours."""
    blocks = [token.map for token in parsed(text) if token.type == "fence" and token.map]
    code = {line for start, end in blocks for line in range(start, end)}
    lines = [line for number, line in enumerate(text.split("\n")) if number not in code]
    bare = "\n".join(_INLINE_CODE.sub("", line) for line in lines)
    return re.sub(r"\\!", "", _OURS.sub("", bare))


def saying(text: str) -> Reading:
    """A run, held against another, with the text wherever something from outside stands. Ids of prompts and
    variants hold no special character.
    """
    plain = judged()
    cells = [cell.model_copy(update={"model": text, "quant": text}) for cell in plain.cells]
    rows = [row.replaced(model=text) for row in plain.rows]
    judge = plain.judge and plain.judge.model_copy(update={"model": text, "version": text})
    known = plain.provenance.model_copy(
        update={"chip": text, "os": text, "engine": text, "engine_version": text, "runtime": text}
    )
    result = plain.model_copy(update={"cells": cells, "rows": rows, "judge": judge, "provenance": known})
    told, _ = reviews.saying(text)
    return Reading(
        result,
        {row.key: [text] for row in rows},
        {row.key: [text] for row in rows},
        comparison=told.comparison,
        both=told.answers,
    )


@pytest.mark.parametrize("text", SHORT.values(), ids=SHORT)
def test_nothing_hostile_is_live_on_github(text: str) -> None:
    told = report_text(saying(text))
    assert found_in_text(told) == []
    assert links(told) == []
    assert {tag.partition(" ")[0] for tag in tags(told)} <= {
        "<details>", "</details>", "<summary>", "</summary>", "<span>", "</span>", "<code>", "</code>",
    }  # fmt: skip


@pytest.mark.parametrize("text", SHORT.values(), ids=SHORT)
def test_nothing_hostile_is_live_in_obsidian(text: str) -> None:
    told = report_text(saying(text), "en", OBSIDIAN)
    found = frontmatter(told)
    assert found["cells"][0]["model"] == one_line(text)
    body = told[4:].partition("\n---\n")[2]
    assert links(body) == []
    assert tags(body) <= {"<span>", "</span>"}
    assert re.findall(r"(?<!\\)\[\[|!\[|%%|==", without_code(body)) == []
    assert len([token for token in parsed(body) if token.type == "heading_open"]) == 2 + 8


def test_a_truncated_answer_is_told_in_its_row_and_where_it_stands() -> None:
    table = {"A1": Outcome((4, 5), status="truncated"), "A2": Outcome((5, 5))}
    result = builders.result(judged_suite(), table)
    answers = {("m", "none", prompt): ["Half an ans"] for prompt in table}
    text = report_text(Reading(result, answers=answers))
    assert "| `A1` | none | pass, truncated | 85.0 % |" in text
    assert "| `A2` | none | pass | 100.0 % |" in text
    assert "85.0 %, pass, truncated" in text
    assert "bestanden, abgeschnitten" in report_text(Reading(result, answers=answers), "de")


def test_an_answer_that_never_came_has_no_empty_block() -> None:
    result = builders.result(judged_suite(), {"A1": Outcome(status="error"), "A2": (5, 5)})
    text = report_text(Reading(result, answers={("m", "none", "A1"): [""]}))
    assert "```" not in text
