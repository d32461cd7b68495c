"""Outcomes of a check, to be told on a pull request: a plain one, and one that holds a text wherever a model,
a setting, git or the pull request can put one.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from tests.kit import builders
from tests.kit.builders import Outcome
from tests.kit.compared import baseline, compared, repeating
from touchstone.baseline.comparison import (
    ComparedRow,
    ComparedSpeed,
    Comparison,
    JudgeMoved,
    Moved,
    Suspicion,
    TextDiff,
)
from touchstone.errors import BadInputError
from touchstone.pack.checks import Check, Contains
from touchstone.render.comparison import Answers
from touchstone.render.review import Occasion, PackReview
from touchstone.result.schema import ResultDoc

HEAD = "0123456789abcdef0123456789abcdef01234567"
RUN_URL = "https://github.com/acme/demo/actions/runs/4711"
OCCASION = Occasion(run_id=4711, attempt=1, head_sha=HEAD, run_url=RUN_URL, base="f" * 40)


@cache
def worse(rows: int = 10) -> Comparison:
    """A prompt edited, a check that flipped, one row higher, one new, a line that moved."""
    checks: dict[str, list[Check]] = {"P03": [Contains(type="contains", value="yes")]}
    options: dict[str, Any] = {"checks": checks, "critical": ["P05"]}
    old_prompt, new_prompt = "Be kind.\nBe short.", "Be kind.\nBe long."
    before = builders.judged_suite(prompts(rows), variants={"house": old_prompt}, **options)
    after = builders.judged_suite(
        prompts(rows + 1), variants={"house": new_prompt}, thresholds={"Q1": 4.5}, **options
    )
    usual = dict.fromkeys(prompts(rows + 1), (4, 4))
    moved = usual | {"P01": (3, 4), "P02": (5, 5), "P03": Outcome((4, 4), checks=0.0)}
    return compared(baseline(before, usual), repeating(after, moved))


@cache
def unchanged(rows: int = 10) -> Comparison:
    """The same answers again."""
    suite = builders.judged_suite(prompts(rows))
    table = dict.fromkeys(prompts(rows), (4, 4))
    return compared(baseline(suite, table), repeating(suite, table))


def prompts(number: int) -> list[str]:
    """Ids of so many prompts."""
    return [f"P{n:02}" for n in range(number)]


def answers(comparison: Comparison) -> Answers:
    """Two short texts for every row."""
    return {
        key(row): ([f"The answer to {row.prompt}."], [f"Another answer to {row.prompt}."])
        for row in comparison.rows
        if row.old is not None
    }


@cache
def result(rows: int = 11) -> ResultDoc:
    """The run that a comparison could be of."""
    suite = builders.judged_suite(prompts(rows), variants={"house": "Be kind.\nBe long."})
    return builders.result(suite, dict.fromkeys(prompts(rows), (4, 4)))


def review(comparison: Comparison, **fields: Any) -> PackReview:
    """A pack's outcome with everything that belongs to it."""
    usual: dict[str, Any] = {"pack": comparison.pack, "result": result(), "answers": answers(comparison)}
    return PackReview(comparison=comparison, **(usual | {"path": "packs/pack.yaml"} | fields))


def saying(text: str) -> list[PackReview]:
    """Two packs that hold the text in every place: one compared, one that an error kept from it."""
    sentence = f"So {text} it is"
    found = _saying(text)
    told = review(
        found,
        result=_result_saying(text),
        answers={key(row): ([text], [f"new {text}"]) for row in found.rows},
        first=[sentence],
        own=found,
        path=text,
    )
    failed = PackReview("other", error=BadInputError(sentence, sentence), first=[sentence])
    return [told, failed]


def key(row: ComparedRow) -> tuple[str, str, str]:
    """A row's key."""
    return (row.model, row.variant, row.prompt)


def _saying(text: str) -> Comparison:
    """Values are put in unchecked: a file could not hold some of these texts."""
    plain = worse(3)
    moved = [Moved.model_construct(field=text, old=text, new=[text], kind="looser")]
    rows = [
        row.model_copy(update={"model": text, "moved_by": [text, f"label {text} → {text}"]})
        for row in plain.rows
    ]
    rows[0] = rows[0].model_copy(update={"same_answer": False})
    cell = plain.cells[0].model_copy(
        update={"model": text, "variant": text, "old_labels": text, "new_labels": text}
    )
    speed = ComparedSpeed.model_construct(
        model=text, variant=text, differs=moved, chip=(text, text), ttft_p50=(1, 2), decode_med=(1, 2)
    )
    judged = JudgeMoved.model_construct(
        run=text, model=text, variant=text, old=80.0, new=70.0, safety=(True, False)
    )
    kinds: tuple[Literal["variant", "input", "rubric"], ...] = ("variant", "input", "rubric")
    lines = [f"-{line}" for line in text.split("\n")] + [f"+{line}" for line in text.split("\n")]
    return plain.model_copy(
        update={
            "reference": plain.reference
            and plain.reference.model_copy(
                update={"file": text, "approved_by": text, "day": text, "commit": text}
            ),
            "candidate": plain.candidate.model_copy(update={"run": text, "commit": text}),
            "not_comparable": moved,
            "moved": moved,
            "cells": [cell],
            "rows": [*rows[1:2], *rows[:1], *rows[2:], _lonely(rows[0], text, "gone")],
            "diffs": [TextDiff.model_construct(kind=kind, id=text, lines=lines) for kind in kinds],
            "suspicions": [
                Suspicion.model_construct(
                    rule="flag", model=text, variant=text, prompt=text, detail=text, p=None
                )
            ],
            "speed": [speed],
            "judge_moved": [judged],
        }
    )


def _lonely(row: ComparedRow, prompt: str, state: str) -> ComparedRow:
    return row.model_copy(update={"prompt": prompt, "state": state, "moved_by": [], "new": None})


def _result_saying(text: str) -> ResultDoc:
    plain = result(4)
    cells = [cell.model_copy(update={"model": text, "variant": text}) for cell in plain.cells]
    judge = plain.judge and plain.judge.model_copy(update={"model": text, "version": text})
    return plain.model_copy(update={"cells": cells, "judge": judge})
