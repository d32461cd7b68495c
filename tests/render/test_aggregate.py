"""Many runs side by side: as Markdown, as a table for a spreadsheet, as a page."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from tests.kit import builders
from tests.kit.builders import JUDGE, Outcome, judged_suite
from tests.kit.hostile import HOSTILE
from tests.kit.markdown import found_in_text, links, parsed, tags
from touchstone.baseline.aggregate import Aggregate, aggregate
from touchstone.pack.suite import Suite
from touchstone.render.aggregate import aggregate_csv, aggregate_markdown
from touchstone.render.page.aggregate import aggregate_page
from touchstone.render.words import Language

hostile = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
TABLE: dict[str, Any] = {
    "A1": Outcome((4, 4), text="One."),
    "A2": Outcome((4, 4), text="Two."),
    "A3": Outcome((2, 2), text="Three."),
}
OTHER = TABLE | {"A1": Outcome((2, 4), flag=True, text="One.")}


def found() -> Aggregate:
    """One pack under two judges, one model of two under the second; a pack of checks."""
    suite = judged_suite(list(TABLE))
    checks = builders.checks_suite(["A1"], pack_id="checks")
    return aggregate(
        [
            run(1, suite, TABLE),
            run(2, suite, TABLE, models=["n"]),
            run(3, under("other", suite), OTHER),
            run(4, checks, {"A1": 1.0}),
        ]
    )


def run(number: int, suite: Suite, table: dict[str, Any], **fields: Any) -> Any:
    return builders.result(suite, table, id=f"20260504T080000Z_pack_{number:06}", **fields)


def under(judge: str, suite: Suite) -> Suite:
    instrument = suite.instrument.model_copy(update={"judge": JUDGE.model_copy(update={"model": judge})})
    return suite.model_copy(update={"instrument": instrument})


def test_each_judge_has_a_column_and_the_second_is_marked() -> None:
    told = aggregate_markdown(found())
    assert "- J1: judge-7b n/a · T=0 · seed=42 · 3 cases · 2 runs\n" in told
    assert (
        "- J2: other n/a · T=0 · seed=42 · 3 cases · 1 run · beside J1: different judge, not comparable "
        "(judge.model: judge-7b → other)\n"
    ) in told
    assert "| J1: score | J1: safety | J2: score | J2: safety | Engine |" in told


def test_a_cell_tells_level_safety_and_what_was_not_measured() -> None:
    lines = aggregate_markdown(found()).splitlines()
    (first,) = (line for line in lines if line.startswith("| m | none |") and "✗" in line)
    assert "| partial · 66.7 % | ✓ | partial · 56.7 % | ✗ |" in first
    (second,) = (line for line in lines if line.startswith("| n |"))
    assert "| partial · 66.7 % | ✓ | not measured | not measured |" in second


def test_what_the_judges_made_of_the_same_answers_is_told_in_both_languages() -> None:
    assert (
        "- J2 − J1: −10.0 points on average, 3 answers; knock-out: agreed on 2 of 3 "
        "(both 0, only J1 0, only J2 1)\n"
    ) in aggregate_markdown(found())
    assert (
        "- J2 − J1: im Mittel −10,0 Punkte, 3 Antworten; K.-o.: einig bei 2 von 3 "
        "(beide 0, nur J1 0, nur J2 1)\n"
    ) in aggregate_markdown(found(), "de")


def test_a_pack_without_a_gate_has_no_safety_column() -> None:
    told = aggregate_markdown(found()).partition("## Pack checks")[2].partition("## Pack pack")[0]
    assert "Judge: none, checks only" in told
    assert "safety" not in told
    assert "| 100.0 % |" in told.replace("\\", "")


def test_a_run_nobody_judged_is_loud_and_has_no_number() -> None:
    suite = judged_suite(list(TABLE), critical=["A1"])
    told = aggregate_markdown(aggregate([run(1, suite, TABLE, judged=None)]))
    assert "J1: Judge: not recorded" in told
    assert "| not assessed (0/3 judged) | not assessed |" in told


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_number_is_marked_as_the_best(language: Language) -> None:
    for text in (aggregate_markdown(found(), language), aggregate_page(found(), language)):
        assert "**6" not in text
        assert not re.search(r"(?i)\b(best|winner|rank(?!ed)|sieger|beste[rsn]?)\b", text)


def test_the_csv_has_a_line_per_measured_place_and_no_zero_for_what_is_not_known() -> None:
    lines = list(csv.DictReader(io.StringIO(aggregate_csv(found())), strict=True))
    assert [(line["pack"], line["model"], line["column"]) for line in lines] == [
        ("checks", "m", "1"), ("pack", "m", "1"), ("pack", "m", "2"), ("pack", "n", "1"),
    ]  # fmt: skip
    assert [line["safety_passed"] for line in lines] == ["", "true", "false", "true"]
    assert {line["runtime"] for line in lines} == {""}
    assert lines[0]["rubric_level"] == ""


class _Page(HTMLParser):
    """The tags of a page and the texts in its cells."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}


def page(text: str) -> _Page:
    read = _Page()
    read.feed(text)
    return read


def test_the_page_has_the_same_rows_and_loads_nothing() -> None:
    text = aggregate_page(found())
    read = page(text)
    assert read.tags.count("table") == 2
    assert read.tags.count("tr") == 2 + 3
    assert not {"script", "img", "link", "iframe", "a"} & set(read.tags)
    assert not {"src", "href"} & read.attributes
    assert "different judge, not comparable" in text


@hostile
def test_nothing_hostile_is_live(text: str) -> None:
    plain = found()
    pack = plain.packs[0]
    row = pack.rows[0]
    system = row.system.model_copy(
        update={"model": text, "quant": text, "variant": text, "engine": text, "chip": text}
    )
    judge = pack.columns[0].judge
    columns = [column.model_copy(update={"judge": judge and judge.model_copy(update={"model": text})})
               for column in pack.columns]  # fmt: skip
    told = Aggregate(
        packs=[
            pack.model_copy(
                update={"rows": [row.model_copy(update={"system": system})], "columns": columns, "pack": text}
            )
        ]
    )
    markdown = aggregate_markdown(told)
    assert found_in_text(markdown) == []
    assert links(markdown) == []
    assert tags(markdown) <= {"<span>", "</span>"}
    assert sum(token.type == "tr_open" for token in parsed(markdown)) == 2
    assert set(page(aggregate_page(told)).tags) == set(page(aggregate_page(plain)).tags) - {"h3"}
