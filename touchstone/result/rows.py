"""Rows: the plan laid over what came back and what was said of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from touchstone.judge.records import Verdict
from touchstone.result.asked import listed_only
from touchstone.result.numbers import kept
from touchstone.result.schema import CheckScore, Repeat, Row
from touchstone.run import plan
from touchstone.run.records import AnyResponse, Manifest, SampleKey

CellKey = tuple[str, str]
"""(model, variant)."""

_NONE: dict[str, Any] = {}
"""Most answers of a large run share it: a record's values are never changed."""


def rows_of(
    manifest: Manifest,
    responses: Mapping[SampleKey, AnyResponse],
    verdicts: Mapping[SampleKey, Verdict],
) -> list[Row]:
    """Every planned row in plan order, repeats 1…n, not scored yet.

    What is missing is null. A verdict on an answer that was asked again since counts as missing.
    """
    found: dict[tuple[str, str, str], list[Repeat]] = {}
    for key in plan.samples(manifest):
        response = responses.get(key)
        verdict = current_verdict(response, verdicts.get(key))
        repeat = _repeat(key.repeat, response, verdict, listed_only(manifest.suite.cases[key.prompt].rubric))
        found.setdefault(key[:3], []).append(repeat)
    return [
        Row(
            model=model,
            variant=variant,
            prompt=prompt,
            category=manifest.suite.cases[prompt].category,
            state=None,
            pct=None,
            below_line=None,
            repeats=repeats,
        )
        for (model, variant, prompt), repeats in found.items()
    ]


def rows_by_cell(rows: Iterable[Row]) -> dict[CellKey, list[Row]]:
    """The rows of each cell, order kept."""
    cells: dict[CellKey, list[Row]] = {}
    for row in rows:
        cells.setdefault((row.model, row.variant), []).append(row)
    return cells


def repeats_of(rows: Sequence[Row]) -> list[Repeat]:
    """All repeats of some rows."""
    return [repeat for row in rows for repeat in row.repeats]


def current_verdict(response: AnyResponse | None, verdict: Verdict | None) -> Verdict | None:
    """The verdict, if it is the first one on this very answer."""
    if response is None or verdict is None or verdict.pass_ != 0:
        return None
    if verdict.answer_sha256 != response.text_sha256:
        return None
    # An empty partial text and an empty answer have one hash; only the first failed.
    if response.is_good and verdict.reason == "generation_failed":
        return None
    return verdict


def _repeat(
    number: int, response: AnyResponse | None, verdict: Verdict | None, uncounted: set[str]
) -> Repeat:
    # The partial text of a failed generation is no answer: it has no hash and no length.
    answer = response if response is not None and response.is_good else None
    checks = _check_scores(verdict)
    return Repeat.trusted(
        repeat=number,
        status=response.status if response else None,
        verdict=verdict.status if verdict else None,
        reason=verdict.reason if verdict else None,
        scores=verdict.scores if verdict else _NONE,
        red_flag=verdict.red_flag if verdict else None,
        checks={id_: check for id_, check in checks.items() if id_ not in uncounted} or _NONE,
        label=verdict.label if verdict else None,
        answer_sha256=answer.text_sha256 if answer else None,
        answer_chars=answer.text_chars if answer else None,
        prompt_tokens=response.prompt_tokens if response else None,
        completion_tokens=response.completion_tokens if response else None,
        listed={id_: check for id_, check in checks.items() if id_ in uncounted} or _NONE,
        detail=_detail(response, verdict),
    )


def _detail(response: AnyResponse | None, verdict: Verdict | None) -> str | None:
    if response is not None and response.error is not None:
        return f"{response.error.class_}: {response.error.message}"
    return verdict.detail if verdict is not None else None


def _check_scores(verdict: Verdict | None) -> dict[str, CheckScore]:
    if verdict is None:
        return {}
    return {
        check.id: CheckScore(status=check.status, score=None if check.score is None else kept(check.score))
        for check in verdict.checks
    }
