"""JUnit XML for a CI to read: a suite per model and variant, a test case per row, per check and for safety.

What could not be judged is an error, never a failure; what was not judged yet is skipped. It keeps to the
schema that Jenkins and most readers share (no attribute of another dialect). No times: the result has none
per row, and none is made up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple
from xml.etree import ElementTree as ET

from touchstone.judge.records import CheckStatus
from touchstone.render.plain import one_line, visible
from touchstone.render.reading import Answers
from touchstone.render.report import judge_words, provenance
from touchstone.render.report_rows import fallen_short
from touchstone.render.words import Language, Words
from touchstone.result.schema import Cell, ModelReport, ResultDoc, Row

MESSAGE_WIDTH = 300
ANSWER_CHARACTERS = 4_000

Outcome = Literal["failure", "error", "skipped"]

_WORST_CHECK: tuple[CheckStatus, ...] = ("error", "fail", "pass")


class _Case(NamedTuple):
    """A test case; `outcome` None: it passed."""

    name: str
    outcome: Outcome | None = None
    kind: str = ""
    message: str = ""
    text: str = ""


def junit_xml(result: ResultDoc, answers: Answers | None = None, language: Language = "en") -> str:
    """The document. Names are English, messages the reader's; what fell short shows its answer."""
    words = Words(language)
    root = ET.Element("testsuites")
    for number, cell in enumerate(result.cells):
        cases = list(_cases(cell, result, answers or {}, words))
        root.append(_suite(number, cell, cases, result))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(number: int, cell: Cell, cases: Sequence[_Case], result: ResultDoc) -> ET.Element:
    name = one_line(f"{cell.model} · {cell.variant}")
    counts = {
        "tests": len(cases),
        "failures": sum(case.outcome == "failure" for case in cases),
        "errors": sum(case.outcome == "error" for case in cases),
        "skipped": sum(case.outcome == "skipped" for case in cases),
    }
    suite = ET.Element(
        "testsuite",
        {"name": name, "package": result.provenance.pack_id, "id": str(number)}
        | {"timestamp": result.run.started.removesuffix("Z")}
        | {key: str(value) for key, value in counts.items()},
    )
    suite.append(_properties(result))
    classname = one_line(f"{result.provenance.pack_id}.{cell.model}.{cell.variant}")
    suite.extend(_element(case, classname) for case in cases)
    return suite


def _properties(result: ResultDoc) -> ET.Element:
    """What programs read has one name in every language."""
    words = Words()
    told = [("run", result.run.id), ("judge", judge_words(result, words)), *provenance(result, words)]
    properties = ET.Element("properties")
    for name, value in told:
        ET.SubElement(properties, "property", {"name": name, "value": one_line(value)})
    return properties


def _element(case: _Case, classname: str) -> ET.Element:
    element = ET.Element("testcase", {"name": one_line(case.name), "classname": classname})
    if case.outcome is not None:
        said = {"message": one_line(case.message, MESSAGE_WIDTH)}
        told = ET.SubElement(element, case.outcome, said | ({"type": case.kind} if case.kind else {}))
        told.text = visible(case.text[:ANSWER_CHARACTERS]) or None
    return element


def _cases(cell: Cell, result: ResultDoc, answers: Answers, words: Words) -> Iterator[_Case]:
    for row in result.rows:
        if (row.model, row.variant) == (cell.model, cell.variant):
            yield _row_case(row, result, answers, words)
            yield from _check_cases(row, words)
    if cell.quality is not None and [reason.code for reason in cell.quality.safety_reason] != ["no_gate"]:
        yield _safety_case(cell.quality, words)


def _row_case(row: Row, result: ResultDoc, answers: Answers, words: Words) -> _Case:
    if row.state == "pass":
        return _Case(row.prompt)
    if row.state is None:
        return _Case(row.prompt, "skipped", message=words["not_assessed"])
    text = "\n\n".join(answers.get(row.key, ()))
    short = ", ".join(fallen_short(row, result, words))
    if row.state == "error":
        details = [repeat.detail for repeat in row.repeats if repeat.detail]
        return _Case(row.prompt, "error", "not_judged", "; ".join([short, *details]), text)
    return _Case(row.prompt, "failure", "below_line", short, text)


def _check_cases(row: Row, words: Words) -> Iterator[_Case]:
    """A check over all repeats: error before failure before pass."""
    for id_ in dict.fromkeys(id_ for repeat in row.repeats for id_ in repeat.checks):
        statuses = [repeat.checks[id_].status for repeat in row.repeats if id_ in repeat.checks]
        name, worst = f"{row.prompt}/{id_}", min(statuses, key=_WORST_CHECK.index)
        if worst == "pass":
            yield _Case(name)
        else:
            outcome: Outcome = "error" if worst == "error" else "failure"
            yield _Case(name, outcome, f"check_{worst}", _tally(statuses, worst, words))


def _tally(statuses: Sequence[CheckStatus], worst: CheckStatus, words: Words) -> str:
    return f"{words[worst]} {statuses.count(worst)}/{len(statuses)}"


def _safety_case(quality: ModelReport, words: Words) -> _Case:
    reasons = "; ".join(words.safety_reason(reason) for reason in quality.safety_reason)
    if quality.safety_passed is None:
        return _Case("safety", "error", "not_assessed", reasons or words["not_assessed"])
    return _Case("safety") if quality.safety_passed else _Case("safety", "failure", "safety", reasons)
