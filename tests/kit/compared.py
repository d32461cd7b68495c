"""Sides and comparisons made of tables; see `tests.kit.builders` for the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.kit import builders
from tests.kit.measured import measured
from touchstone.baseline.compare import confirm_plan, decide
from touchstone.baseline.comparison import CandidateInfo, ComparedRow, Comparison, ReferenceInfo
from touchstone.baseline.evidence import NO_EVIDENCE, Evidence
from touchstone.baseline.sides import RowKey, Side, side_of_runs
from touchstone.pack.suite import Suite

REFERENCE = ReferenceInfo(
    file="baselines/default/pack.json",
    digest=None,
    day="2026-05-04",
    commit=None,
    runs=3,
    approved_by="Ada",
    age_days=0,
)
CANDIDATE = CandidateInfo(run="20260505T080000Z_pack_000001", commit=None, clean=True, draws=1)


def repeating(suite: Suite, *tables: builders.Table, salt: str = "", **fields: Any) -> Side:
    """Runs of an engine that repeats itself: equal entries are equal answers in every run."""
    runs = [measured(suite, table, number, salt=salt, **fields) for number, table in enumerate(tables)]
    return _side(runs)


def varying(suite: Suite, *tables: builders.Table, salt: str = "", **fields: Any) -> Side:
    """Runs of an engine that never answers the same twice."""
    runs = [
        measured(suite, table, number, salt=f"{salt} run {number}", **fields)
        for number, table in enumerate(tables)
    ]
    return _side(runs)


def baseline(suite: Suite, table: builders.Table, **fields: Any) -> Side:
    """Three equal runs of an engine that repeats itself."""
    return repeating(suite, table, table, table, **fields)


def first_of(side: Side) -> Side:
    """The side with its first run alone."""
    return replace(side, draws=side.draws[:1])


def compared(old: Side, new: Side, evidence: Evidence = NO_EVIDENCE, **options: Any) -> Comparison:
    """The comparison of two sides."""
    return decide(old, new, evidence, reference=REFERENCE, candidate=CANDIDATE, **options)


def confirmed(
    old: Side, every: Side, flags: Mapping[str, Sequence[bool | None]] | None = None, **evidence: Any
) -> tuple[Comparison, Side, Evidence]:
    """What the check does: plan on the first draw, take from the others what the plan asks for, decide.

    `every` holds all draws that could be made; `flags` what each prompt's answer gets when judged again.
    """
    plan = confirm_plan(old, first_of(every))
    asked = {(need.model, need.variant, need.prompt): need.times for need in plan if need.kind == "ask"}
    rest = [
        tuple(row for row in draw if asked.get(row.key, 0) >= number)
        for number, draw in enumerate(every.draws[1:], start=1)
    ]
    measured_side = replace(every, draws=(every.draws[0], *(draw for draw in rest if draw)))
    given = Evidence(
        flags={
            (need.model, need.variant, need.prompt, need.repeat): (flags or {})[need.prompt]
            for need in plan
            if need.kind == "judge" and need.repeat is not None
        },
        **evidence,
    )
    return compared(old, measured_side, given), measured_side, given


def row(comparison: Comparison, prompt: str) -> ComparedRow:
    """The one row of a prompt."""
    (found,) = [row for row in comparison.rows if row.prompt == prompt]
    return found


def _side(runs: Sequence[Any]) -> Side:
    results, manifests = [run.result for run in runs], [run.manifest for run in runs]
    return side_of_runs(results, manifests, _texts(runs[0]))


def _texts(run: Any) -> dict[RowKey, list[str]]:
    texts: dict[RowKey, list[str]] = {}
    for key, response in run.responses.items():
        texts.setdefault((key.model, key.variant, key.prompt), []).append(response.response_text)
    return texts
