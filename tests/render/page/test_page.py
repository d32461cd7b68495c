"""The page: what it is made of, what it says of missing values, and what no text can make of it."""

from __future__ import annotations

import base64
import hashlib
import re
import string
from dataclasses import replace
from importlib import resources
from typing import Any, get_args

import pytest

from tests.kit import pages
from tests.kit.hostile import HOSTILE
from tests.kit.markup import Markup, markup
from touchstone.baseline.comparison import Comparison, Status, Suspicion
from touchstone.baseline.comparison import State as ComparedState
from touchstone.gate.page import PageFacts
from touchstone.render.page import history_html, page_html
from touchstone.render.page.environment import filled
from touchstone.render.page.phrases import PAGE_PHRASES
from touchstone.render.page.provenance import both_fields
from touchstone.render.plain import one_line
from touchstone.render.timing import timing_tables
from touchstone.render.words import Language, Words

TEMPLATES = resources.files("touchstone.render.page").joinpath("templates")
EN, DE = Words("en"), Words("de")
HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\ufeff]")


def told(facts: PageFacts, **comparison: Any) -> PageFacts:
    """The facts with fields of their comparison replaced."""
    assert facts.beside is not None
    changed = facts.beside.comparison.model_copy(update=comparison)
    return replace(facts, beside=replace(facts.beside, comparison=changed))


def comparison_of(facts: PageFacts) -> Comparison:
    assert facts.beside is not None
    return facts.beside.comparison


def kinds(page: Markup) -> set[tuple[str, ...]]:
    """The elements of a page, each as its name and the names of its attributes."""
    return {(name, *sorted(attributes)) for name, attributes in page.elements}


def every_page(text: str, language: Language = "en") -> list[str]:
    """All pages, with the text wherever a text from outside can be."""
    history = [pages.history_saying(text)]
    return [
        page_html(pages.saying(text), history, language),
        page_html(pages.saying_alone(text), language=language),
        history_html(history, language),
    ]


@pytest.fixture(scope="module")
def plain() -> list[Markup]:
    return [markup(page) for page in every_page("harmless")]


# Hostile texts


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_text_becomes_part_of_a_page(text: str, plain: list[Markup]) -> None:
    for page, expected in zip(every_page(text), plain, strict=True):
        found = markup(page)
        assert not found.unclosed
        assert kinds(found) - {("mark",)} <= kinds(expected)
        assert all((given.get("href") or "#").startswith("#") for _, given in found.elements)
        assert not HIDDEN.search(page.replace("\n", " "))


@pytest.mark.parametrize("name", ["html_script", "html_image", "html_attributes", "svg", "nested_details"])
def test_the_text_is_there_to_be_read(name: str) -> None:
    for page in every_page(HOSTILE[name]):
        assert one_line(HOSTILE[name], 60).removesuffix("…") in " ".join(markup(page).text.split())


def test_templates_have_nothing_that_acts() -> None:
    """No script, handler, request or style but the one; and nothing gets past autoescape."""
    sources = {path.name: path.read_text("utf-8") for path in TEMPLATES.iterdir()}
    assert len(sources) >= 5
    acting = re.compile(
        r"\|\s*safe|autoescape|<script|<link|<img|<iframe|<object|<form|@import|url\(|\s(on\w+|style|src)="
    )
    assert {name: acting.findall(source) for name, source in sources.items() if acting.search(source)} == {}


def test_the_policy_allows_the_one_style_and_nothing_else() -> None:
    page = page_html(pages.judged())
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    (policy,) = [
        attributes["content"]
        for name, attributes in markup(page).elements
        if name == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy == (f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'")


def test_a_missing_value_cannot_be_printed() -> None:
    with pytest.raises(ValueError, match="missing value"):
        filled("history.html", EN, title=None, histories=[])


# What it says


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_status_comes_first_then_safety_then_everything_else(language: Language) -> None:
    words = Words(language)
    text = " ".join(markup(page_html(pages.judged(), language=language)).text.split())
    comparison = comparison_of(pages.judged())
    order = [
        words[comparison.status],
        "⚠",
        f"{comparison.counts.suspect} {words['suspect']}",
        "2026-05-04",
        "judge-7b",
        "→",
        "-Be brief.",
        "C4 house",
        "llama.cpp b1",
    ]
    places = [text.find(part, text.find("Care at the help desk")) for part in order]
    assert -1 not in places
    assert places == sorted(places)


@pytest.mark.parametrize("status", get_args(Status))
def test_a_status_is_never_green_while_safety_is_in_doubt(status: Status) -> None:
    doubt = Suspicion(rule="flag", model="m", variant="house", prompt="C4", detail="1/5")
    for suspicions, may_be_green in (([], True), ([doubt], False)):
        facts = told(pages.judged(), status=status, suspicions=suspicions, notes=[])
        (header,) = [given for name, given in markup(page_html(facts)).elements if name == "header"]
        green = {"better", "within_noise", "unchanged"}
        assert (header["class"] == "good") is (may_be_green and status in green)


def test_every_state_a_row_can_have_has_a_colour() -> None:
    style = TEMPLATES.joinpath("page.css").read_text("utf-8")
    toned = set(re.findall(r"\.([a-z_]+)", "".join(re.findall(r"([^{}]+)\{ --tone", style))))
    toned |= set(re.findall(r"\.([a-z_]+)", style[style.index(".unchanged,") : style.index("header {")]))
    states = {*get_args(ComparedState), "pass", "fail", "error", "bad", "warn", "good", "info", "plain"}
    assert states <= toned


def test_what_is_not_known_reads_so_and_never_zero_or_good() -> None:
    row = comparison_of(pages.judged()).rows[0]
    unknown = row.model_copy(update={"state": "not_judged", "old": None, "new": None, "moved_by": []})
    cell = comparison_of(pages.judged()).cells[0].model_copy(
        update={
            "old": None, "new": None, "difference": None, "interval": None, "level": (None, None),
            "safety": (None, None), "length": (None, None),
        }
    )  # fmt: skip
    facts = told(pages.judged(), rows=[unknown], cells=[cell])
    result = facts.result.model_copy(update={"cells": []})
    for language, na, not_assessed in (("en", "n/a", "not assessed"), ("de", "n. v.", "nicht beurteilt")):
        page = page_html(replace(facts, result=result, profiles=[]), language=language)  # type: ignore[arg-type]
        text = " ".join(markup(page).text.split())
        results = text[text.index(Words(language)["judge"]) :]  # type: ignore[arg-type]
        assert f"{na} → {na}" in results
        assert not_assessed in results
        assert "✓" not in results
        assert "None" not in text
        assert not re.search(r"\b0[.,]0 %", text)
        dots = [name for name, _ in markup(page).of("is") if name == "circle"]
        assert len(dots) == 1, "only the key of the drawing has a dot"


def test_a_judge_that_is_not_recorded_is_loud() -> None:
    facts = pages.judged()
    silent = replace(facts, result=facts.result.model_copy(update={"judge": None}))
    assert not markup(page_html(facts)).of("loud")
    for language, said in (("en", "Judge: not recorded"), ("de", "Judge: nicht erfasst")):
        page = markup(page_html(silent, language=language))  # type: ignore[arg-type]
        assert len(page.of("loud")) == 1
        assert said in page.text


def test_a_judge_that_is_only_set_up_is_not_said_to_have_judged() -> None:
    facts = pages.judged()
    silent = replace(facts, result=facts.result.model_copy(update={"judge": None}))
    assert silent.beside is not None
    (judge,) = [field for field in both_fields(silent, silent.beside, EN) if field.label == "Judge"]
    assert (judge.new, judge.differs) == ("n/a", True)
    assert judge.old not in ("", "n/a")


def test_a_run_by_itself_has_counts_and_no_verdict() -> None:
    page = markup(page_html(pages.alone()))
    (header,) = [given for name, given in page.elements if name == "header"]
    assert header["class"] == "plain"
    text = " ".join(page.text.split())
    assert "A run by itself" not in text, "the capital is the style sheet's"
    assert "a run by itself" in text
    counts = {word: sum(getattr(cell.counts, name) for cell in pages.alone().result.cells)
              for name, word in (("passed", "pass"), ("failed", "fail"), ("error", "error"))}  # fmt: skip
    assert all(f"{number} {word}" in text for word, number in counts.items())
    assert not page.of("was"), "nothing was before"
    assert "→" not in text.partition("Rows")[0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rejudged": True}, "judged again"),
        ({"complete": False}, "not complete"),
    ],
)
def test_what_a_run_lacks_stands_above_its_numbers(changes: dict[str, Any], said: str) -> None:
    facts = pages.judged()
    run = facts.result.run.model_copy(update=changes)
    changed = replace(facts, result=facts.result.model_copy(update={"run": run}))
    assert said not in page_html(facts)
    for each in (changed, replace(changed, beside=None)):
        text = markup(page_html(each)).text
        assert said in text[: text.index("Results")]


def test_a_rebuilt_run_says_so() -> None:
    assert "has no result.json" in page_html(replace(pages.alone(), rebuilt=True))


def test_a_run_by_itself_tells_its_times_its_categories_and_how_little_it_can_say() -> None:
    facts = pages.alone()
    text = markup(page_html(facts)).text
    for table in timing_tables(facts.result, EN):
        assert table.title in text
        for row in table.rows:
            assert all(one_line(cell) in text for cell in row)
    assert "left out of the timing medians" in text
    assert "12 cases, one run: how far the next run" in text
    assert "Categories" not in text, "they are all of one"
    rows = [row.replaced(category="hard" if row.prompt == "C4" else "easy") for row in facts.result.rows]
    parted = replace(facts, result=facts.result.model_copy(update={"rows": rows}))
    shares = markup(page_html(parted)).text.partition("Categories")[2].partition("Rows")[0]
    assert re.findall(r"easy|hard", shares) == ["easy", "hard"]
    assert re.findall(r"44\.0 % \(0/1 pass\)", shares), "C4 of the house"


def test_a_comparison_leaves_the_machine_to_the_notes() -> None:
    assert 'id="timing"' not in page_html(pages.judged())


def test_provenance_marks_what_differs_and_only_that() -> None:
    rows = re.findall(r"<tr( class=\"differs\")?><th scope=\"row\">([^<]+)", page_html(pages.judged()))
    assert {label for differs, label in rows if differs} == {"Chip", "RAM", "OS"}
    assert {"Run", "Engine", "Judge"} <= {label for _, label in rows}


def test_no_word_recommends_or_suits() -> None:
    said = " ".join(text for pair in PAGE_PHRASES.values() for text in pair).lower()
    for word in ("geeignet", "empfehl", "recommend", "suitable", "eignung", "winner", "gewinner", "sieger"):
        assert word not in said


@pytest.mark.parametrize("key", PAGE_PHRASES)
def test_both_languages_have_the_same_places(key: str) -> None:
    english, german = (sorted(field for _, field, _, _ in string.Formatter().parse(text) if field)
                       for text in PAGE_PHRASES[key])  # fmt: skip
    assert english == german


def test_every_phrase_is_used() -> None:
    folder = resources.files("touchstone.render.page")
    files = [*folder.iterdir(), *TEMPLATES.iterdir()]
    code = "".join(
        path.read_text("utf-8")
        for path in files
        if path.name.endswith((".py", ".html")) and path.name != "phrases.py"
    )
    assert [key for key in PAGE_PHRASES if f'"{key}"' not in code] == []
