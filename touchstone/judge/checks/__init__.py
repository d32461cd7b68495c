"""The deterministic checks, one file each: what can be said of an answer without asking a model.

`run_check` runs any check of a pack, `run_label` the implicit one of a labelled prompt. Every check runs
under a time limit; one that cannot run, or not in time, is an error and never a pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from touchstone.files import JSON_DECIMALS
from touchstone.judge.checks import (
    contains,
    count,
    ends_with,
    equals,
    json_text,
    label,
    latency,
    length,
    levenshtein,
    not_contains,
    not_regex,
    numeric,
    regex,
    starts_with,
    tokens,
)
from touchstone.judge.checks.finding import Answer, CannotCheckError, Finding, Runner
from touchstone.judge.checks.limit import within_limit
from touchstone.judge.records import CheckStatus, CheckVerdict
from touchstone.judge.visible import visible
from touchstone.pack.checks import LABEL_CHECK, Check
from touchstone.pack.schema import Labels

__all__ = ["Answer", "run_check", "run_label", "runner_of"]

DETAIL_CHARS = 200

_RUNNERS: dict[str, Runner] = {
    "equals": equals.run,
    "contains": contains.run,
    "not_contains": not_contains.run,
    "starts_with": starts_with.run,
    "ends_with": ends_with.run,
    "regex": regex.run,
    "not_regex": not_regex.run,
    "count": count.run,
    "length": length.run,
    "json": json_text.run,
    "numeric": numeric.run,
    "levenshtein": levenshtein.run,
    "tokens": tokens.run,
    "latency": latency.run,
}


def run_check(check: Check, answer: Answer) -> CheckVerdict:
    """What one check says of an answer; its score is rounded as the record keeps it."""
    threshold = check.default_threshold if check.threshold is None else check.threshold
    runner = runner_of(check.type)
    return _verdict(check.id or check.type, threshold, lambda: runner(check, answer))


def run_label(labels: Labels, expected: str, answer: Answer) -> tuple[CheckVerdict, str | None]:
    """The label check and the class read from the answer (None where there is none to read)."""
    found: list[str] = []

    def look() -> Finding:
        found.append(label.class_of(labels, answer))
        return label.run(expected, found[0])

    verdict = _verdict(LABEL_CHECK, 1.0, look)
    return verdict, found[0] if found else None


def runner_of(kind: str) -> Runner:
    """What runs a type of check; KeyError for none."""
    if kind == "json_schema":
        # Before the clock of the time limit starts, and only where a pack has such a check.
        from touchstone.judge.checks import json_schema  # noqa: PLC0415  loads a large library

        return json_schema.run
    return _RUNNERS[kind]


def _verdict(id_: str, threshold: float, look: Callable[[], Finding]) -> CheckVerdict:
    try:
        finding = within_limit(look)
    except CannotCheckError as error:
        return _error(id_, str(error))
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError, re.error) as error:
        # A check must not end a run: what a library trips over is this check's error.
        return _error(id_, f"{type(error).__name__}: {error}")
    score = round(finding.score, JSON_DECIMALS)
    status: CheckStatus = "pass" if score >= threshold else "fail"
    return CheckVerdict(id=id_, status=status, score=score, detail=visible(finding.detail, DETAIL_CHARS))


def _error(id_: str, detail: str) -> CheckVerdict:
    return CheckVerdict(id=id_, status="error", score=None, detail=visible(detail, DETAIL_CHARS))
