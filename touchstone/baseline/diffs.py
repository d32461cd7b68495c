"""Texts that changed between two suites, as unified diffs."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from touchstone.baseline.comparison import TextDiff
from touchstone.files import json_pretty
from touchstone.pack.suite import Case, Rubric, VariantText

CONTEXT_LINES = 3


def variant_diffs(old: Mapping[str, VariantText], new: Mapping[str, VariantText]) -> list[TextDiff]:
    """The variants both sides have whose system prompt differs, in the new side's order."""
    return [
        TextDiff(kind="variant", id=id_, lines=text_diff(old[id_].text, variant.text))
        for id_, variant in new.items()
        if id_ in old and old[id_].text != variant.text
    ]


def case_diffs(old: Mapping[str, Case], new: Mapping[str, Case], changed: Iterable[str]) -> list[TextDiff]:
    """What changed in the inputs and rubrics of these prompts."""
    diffs = []
    for id_ in changed:
        before, after = old[id_], new[id_]
        if before.input_sha256 != after.input_sha256:
            diffs.append(TextDiff(kind="input", id=id_, lines=text_diff(before.input, after.input)))
        if before.rubric_sha256 != after.rubric_sha256:
            lines = text_diff(_rubric_text(before.rubric), _rubric_text(after.rubric))
            diffs.append(TextDiff(kind="rubric", id=id_, lines=lines))
    return diffs


def text_diff(old: str | None, new: str | None) -> list[str]:
    """Unified diff lines, no file names. A text that is not there has no lines."""
    lines = difflib.unified_diff(_lines(old), _lines(new), lineterm="", n=CONTEXT_LINES)
    return [line for number, line in enumerate(lines) if number > 1]


def _lines(text: str | None) -> list[str]:
    # Split on \n alone: a last newline that came or went is a change too.
    return [] if text is None else text.split("\n")


def _rubric_text(rubric: Rubric) -> str:
    return json_pretty(rubric.to_json())
