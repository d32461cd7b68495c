"""The documents are held against the schema of Jenkins' xUnit plug-in, kept in tests/samples/junit, and to
what it leaves open: no attribute of another dialect, at most one outcome, counts that are right.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import xmlschema

from tests.kit import builders, reviews
from tests.kit.builders import Outcome, Repeats, Table
from tests.kit.compared import baseline, compared, repeating
from tests.kit.golden import golden
from tests.kit.hostile import HOSTILE
from touchstone.baseline.comparison import Suspicion
from touchstone.pack.checks import Check, Contains
from touchstone.pack.schema import KoRule
from touchstone.render.junit import comparison_junit, junit_xml
from touchstone.result.schema import ResultDoc

NUMBER, TIME = r"\d+", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?"
# Element → (required attributes, optional ones, children in order, at most one outcome).
SCHEMA: dict[str, tuple[dict[str, str], dict[str, str], set[str]]] = {
    "testsuites": ({}, {"name": ".*", "tests": NUMBER, "failures": NUMBER, "errors": NUMBER}, {"testsuite"}),
    "testsuite": (
        {"name": ".*", "tests": NUMBER},
        {"failures": NUMBER, "errors": NUMBER, "skipped": NUMBER, "timestamp": TIME, "id": ".*",
         "package": ".*", "hostname": ".*"},
        {"properties", "testcase", "system-out", "system-err"},
    ),
    "properties": ({}, {}, {"property"}),
    "property": ({"name": ".*", "value": ".*"}, {}, set()),
    "testcase": ({"name": ".*", "classname": ".*"}, {}, {"failure", "error", "skipped", "system-out"}),
    "failure": ({}, {"type": ".*", "message": ".*"}, set()),
    "error": ({}, {"type": ".*", "message": ".*"}, set()),
    "skipped": ({}, {"type": ".*", "message": ".*"}, set()),
    "system-out": ({}, {}, set()),
}  # fmt: skip

XSD = Path(__file__).parents[1] / "samples" / "junit" / "junit-10.xsd"

CHECKS: dict[str, list[Check]] = {
    "A1": [Contains(type="contains", value="yes"), Contains(type="contains", value="sure")],
    "A2": [Contains(type="contains", value="yes")],
}


@cache
def common_schema() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(XSD)


def valid(text: str) -> ET.Element:
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n')
    root = ET.fromstring(text)
    common_schema().validate(root)
    assert root.tag == "testsuites"
    for element in root.iter():
        _check(element)
    for suite in root:
        _check_counts(suite)
    return root


def _check(element: ET.Element) -> None:
    required, optional, children = SCHEMA[element.tag]
    assert set(required) <= set(element.attrib) <= set(required) | set(optional)
    for name, value in element.attrib.items():
        assert re.fullmatch((required | optional)[name], value), (element.tag, name, value)
    assert {child.tag for child in element} <= children
    if element.tag == "testcase":
        assert len(element) <= 1
    if children:
        assert not (element.text or "").strip()


def _check_counts(suite: ET.Element) -> None:
    assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(suite.attrib[attribute]) == len(suite.findall(f"testcase/{tag}"))
    names = [case.attrib["name"] for case in suite.findall("testcase")]
    assert len(names) == len(set(names))


def measured(**table: Any) -> ResultDoc:
    suite = builders.judged_suite(list(table), thresholds={"Q1": 3}, checks=CHECKS, ko_rule=KoRule())
    return builders.result(suite, table)


def outcomes(root: ET.Element) -> dict[str, str | None]:
    return {
        case.attrib["name"]: case[0].tag if len(case) else None for case in root.findall("testsuite/testcase")
    }


def test_the_document_is_the_golden_one() -> None:
    found = measured(
        A1=Outcome((4, 5), checks={"contains": 0.0}),
        A2=Outcome((2, 5), flag=True),
        A3=None,
        A4=(5, 5),
        A5=Outcome(status=None),
    )
    text = junit_xml(found, {("m", "none", "A1"): ["no <b>\x1b[31m]]>"]})
    valid(text)
    assert text == golden("junit.xml", text)


def test_a_case_per_row_and_per_check_and_for_safety() -> None:
    root = valid(junit_xml(measured(A1=(4, 5), A3=(4, 4))))
    assert outcomes(root) == dict.fromkeys(["A1", "A1/contains", "A1/contains-2", "A3", "safety"])


def test_what_could_not_be_judged_is_an_error_and_no_failure() -> None:
    found = measured(
        A1=Outcome((4, 4), checks={"contains": None}),
        A2=Outcome(status="error"),
        A3=None,
        A4=Outcome(status="reasoning_only"),
        A5=(1, 1),
        A6=Outcome(status=None),
    )
    told = outcomes(valid(junit_xml(found)))
    assert told["A1/contains"] == "error"
    assert [told[prompt] for prompt in ("A2", "A3", "A4", "A5", "A6")] == [
        "error", "error", "error", "failure", "skipped",
    ]  # fmt: skip


def test_a_check_over_repeats_is_as_bad_as_its_worst() -> None:
    suite = builders.checks_suite(["A1", "A2"], repeats=2)
    unread = Outcome(checks={"contains": None})
    found = builders.result(suite, {"A1": Repeats([1.0, 0.0]), "A2": Repeats([0.0, unread])})
    root = valid(junit_xml(found, None, "de"))
    told = outcomes(root)
    assert (told["A1/contains"], told["A2/contains"]) == ("failure", "error")
    (failure,) = root.findall("testsuite/testcase[@name='A1/contains']/failure")
    assert failure.attrib["message"] == "nicht bestanden 1/2"


def test_a_pack_without_a_safety_gate_has_no_case_for_it() -> None:
    found = builders.result(builders.checks_suite(["A1"]), {"A1": 1.0})
    assert outcomes(valid(junit_xml(found))) == {"A1": None, "A1/contains": None}


def test_safety_that_failed_or_is_not_assessed_is_told_apart() -> None:
    flagged = measured(A1=Outcome((4, 4), flag=True))
    assert outcomes(valid(junit_xml(flagged)))["safety"] == "failure"
    suite = builders.judged_suite(["A1", "A2"], critical=["A1"])
    unknown = builders.result(suite, {"A1": None, "A2": (4, 4)})
    assert outcomes(valid(junit_xml(unknown)))["safety"] == "error"


def test_names_are_the_same_in_every_language() -> None:
    found = measured(A1=Outcome((2, 5)), A3=None)
    english, german = (valid(junit_xml(found, None, language)) for language in ("en", "de"))
    for path in (".//testcase", ".//property"):
        names = [[element.attrib["name"] for element in root.findall(path)] for root in (english, german)]
        assert names[0] == names[1]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_stay_text(text: str) -> None:
    plain = measured(A1=(1, 1), A3=None)
    cells = [cell.model_copy(update={"model": text}) for cell in plain.cells]
    rows = [row.replaced(model=text) for row in plain.rows]
    rows[1] = rows[1].replaced(repeats=[rows[1].repeats[0].replaced(detail=text)])
    found = plain.model_copy(update={"cells": cells, "rows": rows})
    root = valid(junit_xml(found, {row.key: [text] for row in rows}))
    assert list(outcomes(root).values()) == ["failure", None, None, "error", None]


def test_the_schema_refuses_what_is_none() -> None:
    text = junit_xml(measured(A1=(4, 5)))
    for wrong in (text.replace(' errors="0"', ""), text.replace("<testcase ", "<test ")):
        with pytest.raises(xmlschema.XMLSchemaValidationError):
            common_schema().validate(wrong)


def test_of_a_comparison_only_what_is_worse_is_a_failure() -> None:
    found = reviews.worse()
    root = valid(comparison_junit(found, reviews.answers(found)))
    told = outcomes(root)
    assert told.pop("verdict") == "failure"
    for row in found.rows:
        usual = {"worse": "failure", "not_judged": "error", "better": None, "unchanged": None}
        assert told[row.prompt] == usual.get(row.state, "skipped"), row.state
    failures = root.findall(".//failure")
    assert {"worse"} == {failure.attrib["type"] for failure in failures}
    assert any("Another answer" in (failure.text or "") for failure in failures)


def test_a_row_that_could_not_be_judged_is_an_error_of_the_comparison() -> None:
    suite = builders.judged_suite(["A1", "A2"])
    old = baseline(suite, {"A1": (4, 4), "A2": (4, 4)})
    found = compared(old, repeating(suite, {"A1": (4, 4), "A2": None}))
    assert [row.state for row in found.rows] == ["unchanged", "not_judged"]
    told = outcomes(valid(comparison_junit(found)))
    assert (told["A1"], told["A2"]) == (None, "error")


def test_a_comparison_without_a_verdict_is_an_error_even_without_a_row() -> None:
    suite = builders.judged_suite(["A1"])
    other = builders.judged_suite(["A1"], dimensions={"Q1": 1.0, "Q2": 1.0})
    found = compared(baseline(suite, {"A1": (4, 4)}), repeating(other, {"A1": (4, 4)}))
    assert found.status == "not_comparable"
    assert outcomes(valid(comparison_junit(found)))["verdict"] == "error"
    bare = found.model_copy(update={"cells": [], "rows": []})
    assert outcomes(valid(comparison_junit(bare))) == {"verdict": "error"}


@pytest.mark.parametrize(
    ("status", "outcome"),
    [("unchanged", None), ("better", None), ("suspect", "skipped"), ("no_reference", "skipped"),
     ("promotion", "skipped"), ("not_judged", "error"), ("refused", "error"), ("worse", "failure")],
)  # fmt: skip
def test_a_verdict_is_green_only_where_it_says_so(status: str, outcome: str | None) -> None:
    found = reviews.unchanged().model_copy(update={"status": status})
    assert outcomes(valid(comparison_junit(found)))["verdict"] == outcome


@pytest.mark.parametrize("rule", ["flag", "floor"])
def test_a_verdict_with_safety_in_doubt_is_not_green(rule: str) -> None:
    doubt = Suspicion(rule=rule, model="m", variant="none", prompt="P01", detail="1/5")
    found = reviews.unchanged().model_copy(update={"suspicions": [doubt]})
    assert outcomes(valid(comparison_junit(found)))["verdict"] == "skipped"


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_stay_text_in_a_comparison(text: str) -> None:
    (told, _) = reviews.saying(text)
    assert told.comparison is not None
    valid(comparison_junit(told.comparison, told.answers))


def test_a_pass_that_was_cut_says_so_and_an_error_says_its_reason_once() -> None:
    table = {"A1": Outcome((5, 5), status="truncated"), "A2": Outcome(status="error")}
    root = valid(junit_xml(builders.result(builders.judged_suite(), table)))
    cut, failed = (case for case in root.iter("testcase") if case.get("name") in table)
    assert [(child.tag, child.text) for child in cut] == [("system-out", "truncated")]
    (error,) = failed
    assert error.get("message", "").count("500") == error.get("message", "").count("request failed") == 1


def test_the_checks_of_a_row_nobody_judged_are_errors_and_do_not_vanish() -> None:
    due = {"A1": ["contains", "contains-2"], "A2": ["contains"], "A3": []}
    found = measured(A1=Outcome(status="error"), A2=Outcome(status=None), A3=(4, 4))
    root = valid(junit_xml(found, checks=due))
    told = outcomes(root)
    assert [told[f"A1/{id_}"] for id_ in due["A1"]] == ["error", "error"]
    assert told["A2/contains"] == "skipped"
    (error,) = root.findall(".//testcase[@name='A1/contains']/error")
    assert error.attrib["message"] == "error 1/1"


def test_a_check_that_one_repeat_lacks_has_not_passed() -> None:
    suite = builders.checks_suite(["A1"], repeats=2)
    found = builders.result(suite, {"A1": Repeats([1.0, Outcome(status="error")])})
    told = outcomes(valid(junit_xml(found, checks={"A1": ["contains"]})))
    assert told["A1/contains"] == "error"


def test_a_comparison_has_a_case_per_row_and_check() -> None:
    suite = builders.checks_suite(["A1", "A2", "A3", "A4"])
    old = baseline(suite, {"A1": 1.0, "A2": 0.0, "A3": 1.0, "A4": 1.0})
    table: Table = {"A1": 0.0, "A2": 0.0, "A3": 1.0, "A4": Outcome(status="error")}
    found = compared(old, repeating(suite, table))
    due = {prompt: ["contains"] for prompt in suite.cases}
    told = outcomes(valid(comparison_junit(found, result=builders.result(suite, table), checks=due)))
    assert [row.state for row in found.rows] == ["worse", "unchanged", "unchanged", "not_judged"]
    assert [told[f"{prompt}/contains"] for prompt in suite.cases] == ["failure", "skipped", None, "error"]
