"""What the judge is asked: a versioned template, filled in.

The wording belongs to no domain and no language; what is special comes from the pack. Prompt and answer
stand between marks made from their own hashes: a text cannot contain the mark that closes it, and the same
answer always gives the same prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from touchstone.files import digest_of, sha256_of
from touchstone.pack.suite import InstrumentDimension, Suite

PROMPT_VERSION = 1
"""Number of the template. A change of its words, or of what is rendered into it, makes a new one."""

MARK_DIGITS = 24

_PLACE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Brief:
    """Everything the judge is told, besides the answer. `scale` is score → meaning, contiguous."""

    prompt: str
    dimensions: tuple[InstrumentDimension, ...]
    scale: Mapping[int, str]
    tests: str | None = None
    green_flags: tuple[str, ...] = ()
    red_flags: tuple[str, ...] = ()

    @property
    def dimension_ids(self) -> tuple[str, ...]:
        """The ids asked for, in the order of asking."""
        return tuple(dimension.id for dimension in self.dimensions)


def brief_of(suite: Suite, prompt_id: str) -> Brief:
    """The brief for one prompt of a suite."""
    case = suite.cases[prompt_id]
    return Brief(
        prompt=case.input,
        dimensions=tuple(d for d in suite.instrument.dimensions if d.id in case.rubric.dimensions),
        scale=suite.instrument.scale,
        tests=case.rubric.tests,
        green_flags=tuple(case.rubric.green_flags),
        red_flags=tuple(case.rubric.red_flags),
    )


def judge_prompt(brief: Brief, answer: str) -> str:
    """The judge's one message for one answer."""
    return _filled(
        _template(f"prompt-{PROMPT_VERSION}.txt"),
        {
            "scale": "\n".join(f"{score} = {brief.scale[score]}" for score in sorted(brief.scale)),
            "tests": brief.tests or "Whether the answer does what the prompt asks for.",
            "dimensions": "\n".join(_dimension_line(dimension) for dimension in brief.dimensions),
            "green_flags": _list(brief.green_flags),
            "red_flags": _list(brief.red_flags),
            "prompt": marked("prompt", brief.prompt),
            "answer": marked("answer", answer),
            "lowest": str(min(brief.scale)),
            "highest": str(max(brief.scale)),
            "form": _form(brief),
        },
    )


def judge_prompt_again(brief: Brief, answer: str, fault: str) -> str:
    """The same message with the fault of the first reply and the schema behind it.

    The reply itself is not shown again: it may be long, and it may quote the answer.
    """
    again = _filled(
        _template(f"prompt-{PROMPT_VERSION}-again.txt"),
        {"fault": fault, "schema": json.dumps(verdict_schema(brief), ensure_ascii=False)},
    )
    return f"{judge_prompt(brief, answer)}\n{again}"


def verdict_schema(brief: Brief) -> dict[str, Any]:
    """JSON Schema of a verdict: rationale, then an integer for each dimension, then the flag."""
    score = {"type": "integer", "enum": sorted(brief.scale)}
    scores = _object(dict.fromkeys(brief.dimension_ids, score))
    return _object({"rationale": {"type": "string"}, "scores": scores, "red_flag": {"type": "boolean"}})


def response_format(brief: Brief) -> dict[str, Any]:
    """The request's `response_format` for engines that hold the model to a schema."""
    return {
        "type": "json_schema",
        "json_schema": {"name": "verdict", "strict": True, "schema": verdict_schema(brief)},
    }


def marked(name: str, text: str) -> str:
    """A text between two lines that it cannot contain: their mark is its own hash."""
    mark = f"{name}-{sha256_of(text).removeprefix('sha256:')[:MARK_DIGITS]}"
    return f"<{mark}>\n{text}\n</{mark}>"


@cache
def prompt_sha256() -> str:
    """Hash over all that is fixed in what the judge is asked: words, layout, second asking and schema."""
    brief = Brief(
        prompt="prompt",
        dimensions=(InstrumentDimension(id="D1", name="name", weight=1.0, about="about"),),
        scale={1: "low", 2: "high"},
        tests="tests",
        green_flags=("green",),
        red_flags=("red",),
    )
    return digest_of([judge_prompt_again(brief, "answer", "fault"), response_format(brief)])


@cache
def _template(name: str) -> str:
    return files("touchstone.judge").joinpath(name).read_text(encoding="utf-8")


def _filled(template: str, values: Mapping[str, str]) -> str:
    # One pass: braces inside a value are never taken for a place.
    return _PLACE.sub(lambda place: values[place[1]], template)


def _dimension_line(dimension: InstrumentDimension) -> str:
    about = f": {dimension.about}" if dimension.about else ""
    return f"- {dimension.id} ({dimension.name}){about}"


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines) or "None listed."


def _form(brief: Brief) -> str:
    lowest, highest = min(brief.scale), max(brief.scale)
    scores = ", ".join(f"{json.dumps(id_)}: <{lowest} to {highest}>" for id_ in brief.dimension_ids)
    return f'{{"rationale": "<why>", "scores": {{{scores}}}, "red_flag": <true or false>}}'


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
