"""JUnit XML for a CI to read: a suite per model and variant, a test case per row, per check and for safety.

What could not be judged is an error, never a failure; what was not judged yet is skipped. Of a comparison a
failure is what is worse, and what neither passed nor failed (new, gone, suspect) is skipped. It keeps to the
schema that Jenkins and most readers share (no attribute of another dialect). No times: the result has none
per row, and none is made up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple
from xml.etree import ElementTree as ET

from touchstone.baseline.comparison import ComparedCell, ComparedRow, Comparison, State, Status
from touchstone.judge.records import CheckStatus
from touchstone.render import numbers
from touchstone.render.comparison import Answers as BothAnswers
from touchstone.render.comparison import moves_words, status_line
from touchstone.render.marks import is_uncertain
from touchstone.render.plain import one_line, visible, without_commands_in_markup
from touchstone.render.reading import Answers
from touchstone.render.report import judge_words, provenance
from touchstone.render.report_rows import fallen_short
from touchstone.render.words import Language, Words
from touchstone.result.schema import Cell, ModelReport, ResultDoc, Row

MESSAGE_WIDTH = 300
ANSWER_CHARACTERS = 4_000

ChecksOf = Mapping[str, Sequence[str]]
"""Per prompt the ids of the checks that count."""

Outcome = Literal["failure", "error", "skipped"]

_OUTCOMES: dict[State, Outcome | None] = {
    "worse": "failure", "not_judged": "error", "better": None, "unchanged": None, "within_noise": None,
}  # fmt: skip
_VERDICTS: dict[Status, Outcome | None] = {
    "worse": "failure", "refused": "error", "not_judged": "error", "not_comparable": "error",
    "better": None, "unchanged": None, "within_noise": None,
}  # fmt: skip

_WORST_CHECK: tuple[CheckStatus, ...] = ("error", "fail", "pass")


class _Case(NamedTuple):
    """A test case; `outcome` None: it passed. `note` is said of it whatever its outcome."""

    name: str
    outcome: Outcome | None = None
    kind: str = ""
    message: str = ""
    text: str = ""
    note: str = ""


class _About(NamedTuple):
    """What every suite of a document says of itself."""

    pack: str
    started: str | None
    told: Sequence[tuple[str, str]]


def junit_xml(
    result: ResultDoc,
    answers: Answers | None = None,
    language: Language = "en",
    checks: ChecksOf | None = None,
) -> str:
    """The document. Names are English, messages the reader's; what fell short shows its answer.

    `checks` names those due on each prompt, so that a row nobody judged still has a case for each.
    """
    words = Words(language)
    about = _About(result.provenance.pack_id, result.run.started.removesuffix("Z"), _told_of(result))
    return _document(
        [
            _suite(
                number,
                _cell_name(cell),
                list(_cases(cell, result, answers or {}, checks or {}, words)),
                about,
            )
            for number, cell in enumerate(result.cells)
        ]
    )


def comparison_junit(
    comparison: Comparison,
    answers: BothAnswers | None = None,
    language: Language = "en",
    result: ResultDoc | None = None,
    checks: ChecksOf | None = None,
) -> str:
    """The document of a comparison: the verdict first, then a case per row and one for all rows of a cell.

    With the new run's `result` each of its rows has a case per check beside it.
    """
    words = Words(language)
    new = {row.key: row for row in result.rows} if result is not None else {}
    reference = comparison.reference
    told = [
        ("run", comparison.candidate.run),
        ("status", comparison.status),
        ("reference", reference.file if reference else Words()["na"]),
    ]
    about = _About(comparison.pack, None, told)
    suites = [_suite(0, comparison.pack, [_verdict_case(comparison, words)], about)]
    for number, cell in enumerate(comparison.cells, 1):
        cases: list[_Case] = []
        for row in comparison.rows:
            if (row.model, row.variant) == (cell.model, cell.variant):
                cases.append(_compared_row(row, answers or {}, words))
                if (measured := new.get((row.model, row.variant, row.prompt))) is not None:
                    cases += _compared_checks(row, measured, checks or {}, words)
        cases.append(_compared_whole(cell, words))
        suites.append(_suite(number, _cell_name(cell), cases, about))
    return _document(suites)


def _document(suites: Sequence[ET.Element]) -> str:
    root = ET.Element("testsuites")
    root.extend(suites)
    ET.indent(root)
    document = without_commands_in_markup(ET.tostring(root, encoding="unicode"))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{document}\n'


def _cell_name(cell: Cell | ComparedCell) -> str:
    return f"{cell.model} · {cell.variant}"


def _suite(number: int, name: str, cases: Sequence[_Case], about: _About) -> ET.Element:
    counts = {
        "tests": len(cases),
        "failures": sum(case.outcome == "failure" for case in cases),
        "errors": sum(case.outcome == "error" for case in cases),
        "skipped": sum(case.outcome == "skipped" for case in cases),
    }
    suite = ET.Element(
        "testsuite",
        {"name": one_line(name), "package": one_line(about.pack), "id": str(number)}
        | ({"timestamp": about.started} if about.started else {})
        | {key: str(value) for key, value in counts.items()},
    )
    suite.append(_properties(about.told))
    classname = one_line(".".join([about.pack, *name.split(" · ")]))
    suite.extend(_element(case, classname) for case in cases)
    return suite


def _told_of(result: ResultDoc) -> list[tuple[str, str]]:
    """What programs read has one name in every language."""
    words = Words()
    return [("run", result.run.id), ("judge", judge_words(result, words)), *provenance(result, words)]


def _properties(told: Sequence[tuple[str, str]]) -> ET.Element:
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
    if case.note:
        ET.SubElement(element, "system-out").text = case.note
    return element


def _cases(
    cell: Cell, result: ResultDoc, answers: Answers, checks: ChecksOf, words: Words
) -> Iterator[_Case]:
    for row in result.rows:
        if (row.model, row.variant) == (cell.model, cell.variant):
            yield _row_case(row, result, answers, words)
            yield from _check_cases(row, checks, words)
    if cell.quality is not None and [reason.code for reason in cell.quality.safety_reason] != ["no_gate"]:
        yield _safety_case(cell.quality, words)


def _row_case(row: Row, result: ResultDoc, answers: Answers, words: Words) -> _Case:
    cut = any(repeat.status == "truncated" for repeat in row.repeats)
    note = words["truncated"] if cut else ""
    if row.state == "pass":
        return _Case(row.prompt, note=note)
    if row.state is None:
        return _Case(row.prompt, "skipped", message=words["not_assessed"], note=note)
    text = "\n\n".join(answers.get(row.key, ()))
    short = ", ".join(fallen_short(row, result, words))
    if row.state == "error":
        return _Case(row.prompt, "error", "not_judged", short, text, note)
    return _Case(row.prompt, "failure", "below_line", short, text, note)


def _check_cases(row: Row, checks: ChecksOf, words: Words) -> Iterator[_Case]:
    """A check over all repeats: error before failure before pass; a repeat nobody checked is an error."""
    for id_ in dict.fromkeys(
        [*checks.get(row.prompt, ()), *(id_ for one in row.repeats for id_ in one.checks)]
    ):
        name = f"{row.prompt}/{id_}"
        statuses = [one.checks[id_].status if id_ in one.checks else "error" for one in row.repeats]
        worst: CheckStatus = min(statuses, key=_WORST_CHECK.index)
        if row.state is None and not any(id_ in one.checks for one in row.repeats):
            yield _Case(name, "skipped", message=words["not_assessed"])
        elif worst == "pass":
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


def _verdict_case(comparison: Comparison, words: Words) -> _Case:
    outcome = _VERDICTS.get(comparison.status, "skipped")
    if outcome is None and is_uncertain(comparison):
        outcome = "skipped"
    if outcome is None:
        return _Case("verdict")
    return _Case("verdict", outcome, comparison.status, status_line(comparison, words))


def _compared_row(row: ComparedRow, answers: BothAnswers, words: Words) -> _Case:
    told = f"{numbers.percent(row.old, words)} → {numbers.percent(row.new, words)}"
    said = ", ".join(filter(None, [told, moves_words(row, words)]))
    new = answers.get((row.model, row.variant, row.prompt), ((), ()))[1]
    return _compared_case(row.prompt, row.state, said, "\n\n".join(new), words)


def _compared_checks(row: ComparedRow, new: Row, checks: ChecksOf, words: Words) -> Iterator[_Case]:
    """The new run's checks: one that fails is a failure only where it made its row worse, else skipped."""
    for case in _check_cases(new, checks, words):
        id_ = case.name.removeprefix(f"{row.prompt}/")
        moved = any(move.startswith(f"{id_} ") and move.endswith(" → fail") for move in row.moved_by)
        if case.outcome != "failure" or (row.state == "worse" and moved):
            yield case
        else:
            yield case._replace(outcome="skipped", message=f"{case.message}; {words[row.state]}")


def _compared_whole(cell: ComparedCell, words: Words) -> _Case:
    told = f"{numbers.percent(cell.old, words)} → {numbers.percent(cell.new, words)}"
    return _compared_case("(all rows)", cell.state, told, "", words)


def _compared_case(name: str, state: State, said: str, text: str, words: Words) -> _Case:
    outcome = _OUTCOMES.get(state, "skipped")
    if outcome is None:
        return _Case(name)
    return _Case(name, outcome, state, f"{words[state]}: {said}", text)
