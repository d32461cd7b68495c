"""`json`: the answer is one JSON value, and nothing else."""

from __future__ import annotations

import json
from typing import Any

from touchstone.judge.checks.finding import Answer, CannotCheckError, Finding
from touchstone.judge.fence import without_fence
from touchstone.judge.visible import visible
from touchstone.pack.checks import Json


class NotJsonError(Exception):
    """Why a text is not JSON, in a few words."""


def run(check: Json, answer: Answer) -> Finding:
    """Parse the answer."""
    try:
        value = parsed(answer.text, allow_fence=check.allow_fence)
    except NotJsonError as error:
        return Finding(0.0, str(error))
    return Finding(1.0, f"JSON {type(value).__name__}")


def parsed(text: str, *, allow_fence: bool) -> Any:
    """The answer's JSON value. NaN, infinities and repeated keys are not JSON here."""
    body = without_fence(text) if allow_fence else text.strip()
    try:
        return json.loads(body, object_pairs_hook=_unique, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise NotJsonError(f"not JSON: {error.msg} (character {error.pos + 1})") from None
    except RecursionError:
        raise CannotCheckError("nested too deeply to be read") from None
    except ValueError as error:  # a number with more digits than Python converts
        raise CannotCheckError(visible(str(error))) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for key, value in pairs:
        if key in record:
            raise NotJsonError(f"not JSON: key “{visible(key, 40)}” stands twice")
        record[key] = value
    return record


def _refuse(name: str) -> Any:
    raise NotJsonError(f"not JSON: {name}")
