"""Runs as files: a bundle's result computed from its lines, stored, and read back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from touchstone.baseline.store import MeasuredRun
from touchstone.errors import BadInputError
from touchstone.files import read_json, write_document
from touchstone.host.merge import WindowFacts, peak_of, worst_words_of
from touchstone.judge.phase import read_verdicts
from touchstone.judge.records import Verdict
from touchstone.records import Misfit, check_schema, record_from
from touchstone.result.build import build_result_doc
from touchstone.result.rows import current_verdict
from touchstone.result.schema import RESULT_SCHEMA, CaseHashes, ResultDoc, Row
from touchstone.result.select import SELECTION_SCHEMA, Selection
from touchstone.result.timing import CellMachine
from touchstone.run.bundle import Bundle
from touchstone.run.finalize import Facts, facts_of, write_facts
from touchstone.run.preflight import observed, read_blocks
from touchstone.run.records import Manifest, ResponseFacts, SampleKey

SELECTION_NAME = "selection.json"


def write_result(bundle: Bundle, judged: str | None = None) -> ResultDoc:
    """Recompute a bundle's result from its lines and replace `result.json`."""
    result = _result(bundle, judged, keeps_facts=True)
    rows = (row.to_json() for row in result.rows)
    rest = result.model_copy(update={"rows": []})
    write_document(bundle.result_path, {**rest.to_json(), "rows": rows})
    return result


def result_of(bundle: Bundle, judged: str | None = None) -> ResultDoc:
    """A bundle's result, recomputed from its lines; `judged` is when the last verdict fell."""
    return _result(bundle, judged)


def _result(bundle: Bundle, judged: str | None, *, keeps_facts: bool = False) -> ResultDoc:
    responses = bundle.outlines()
    left_out, machine = _watched(bundle, responses, keeps_facts=keeps_facts)
    manifest, verdicts = manifest_of(bundle), read_verdicts(bundle.path, with_words=lambda _: False)
    return build_result_doc(
        manifest,
        responses,
        verdicts,
        judged=judged,
        calibrated=_calibrated(manifest, verdicts.values()),
        left_out=left_out,
        resources=machine,
        rejudged=manifest.rejudged_from is not None,
    )


def manifest_of(bundle: Bundle) -> Manifest:
    """A run's manifest with what its engine told once the models were loaded."""
    return observed(bundle.manifest, read_blocks(bundle.path))


def load_run(bundle: Bundle) -> MeasuredRun:
    """A run with its result and its answers."""
    return MeasuredRun(
        manifest=manifest_of(bundle), result=stored_result(bundle), responses=bundle.responses()
    )


def stored_result(bundle: Bundle) -> ResultDoc:
    """A run's stored result; a bundle without one is rebuilt from its lines."""
    return read_result(bundle.result_path) if bundle.result_path.exists() else result_of(bundle)


def rationales_of(
    bundle: Bundle, rows: Collection[tuple[str, str, str]] | None = None
) -> dict[tuple[str, str, str], list[str | None]]:
    """The judge's words on the planned draw by (model, variant, prompt), one per planned repeat; null where
    it has not spoken, or spoke of an answer that was asked again since. `rows` narrows it.
    """
    wanted = dict.fromkeys(key for key in bundle.samples() if rows is None or key[:3] in rows)
    verdicts = read_verdicts(bundle.path, with_words=wanted.__contains__)
    responses = bundle.outlines(wanted) if verdicts else {}
    found: dict[tuple[str, str, str], list[str | None]] = {}
    for key in wanted:
        verdict = current_verdict(responses.get(key), verdicts.get(key))
        found.setdefault(key[:3], []).append(verdict.rationale if verdict else None)
    return found


def recomputed(bundle: Bundle, stored: ResultDoc) -> ResultDoc:
    """What the bundle's lines give today; only the time of judging is taken over."""
    return result_of(bundle, judged=stored.run.judged)


def read_selection(bundle: Bundle) -> Selection | None:
    """The choice that was written into a bundle; None where it was never chosen."""
    path = bundle.path / SELECTION_NAME
    if not path.exists():
        return None
    value = read_json(path)
    check_schema(value, SELECTION_SCHEMA, str(path))
    try:
        return Selection.model_validate(value)
    except ValidationError:
        raise BadInputError(
            f"{path}: not a selection", "Choose again: touchstone select RUN RUN RUN"
        ) from None


def read_result(path: Path) -> ResultDoc:
    """A `result.json`; a newer schema is one clear sentence."""
    value = read_json(path)
    check_schema(value, RESULT_SCHEMA, str(path))
    try:
        return record_from(ResultDoc, value, {"rows": Row, "cases": CaseHashes})
    except Misfit as misfit:
        raise BadInputError(
            f"{path}: {misfit}",
            f"Make it again from the run's lines: touchstone judge --bundle {path.parent.name}",
        ) from None


def _watched(
    bundle: Bundle, responses: Mapping[SampleKey, ResponseFacts], *, keeps_facts: bool
) -> tuple[set[SampleKey], dict[tuple[str, str], CellMachine]]:
    """The answers unfit for timing, and each cell's machine; a large run's facts are not held any longer."""
    facts = facts_of(bundle, responses)
    if keeps_facts:
        write_facts(bundle, facts)
    return {key for key, found in facts.items() if not found.is_fit_for_timing}, _machine_by_cell(facts)


def _machine_by_cell(facts: Facts) -> dict[tuple[str, str], CellMachine]:
    cells: dict[tuple[str, str], list[WindowFacts[SampleKey]]] = {}
    for key, found in facts.items():
        cells.setdefault((key.model, key.variant), []).append(found)
    return {cell: _machine_of(found) for cell, found in cells.items()}


def _machine_of(facts: Sequence[WindowFacts[SampleKey]]) -> CellMachine:
    peak, worst = peak_of(facts), worst_words_of(facts)
    return CellMachine(_gb(peak.peak_mb), _gb(peak.delta_mb), worst.pressure, worst.thermal, worst.power)


def _gb(mb: float | None) -> float | None:
    return None if mb is None else mb / 1024


def _calibrated(manifest: Manifest, verdicts: Iterable[Verdict]) -> bool | None:
    """A judge judges nothing before it is calibrated, so one of its verdicts says that it was."""
    if not manifest.suite.instrument.calibration:
        return None
    return any(verdict.judge is not None for verdict in verdicts)
