"""Promote, the pure part: the refusals, what a person is shown first, and the words of the commit.

Making the commit is git's business; nothing is read or written here.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from touchstone.baseline.differences import differences
from touchstone.baseline.refusals import Refusal, Standing, Today, refusals, shown_value
from touchstone.baseline.schema import Baseline
from touchstone.baseline.store import MeasuredRun, dump, parse
from touchstone.pack.suite import Suite

__all__ = [
    "Note",
    "Refusal",
    "Standing",
    "Today",
    "branch_of",
    "notes",
    "promotion_message",
    "refresh",
    "refusals",
    "trailer_of",
]

NoteCode = Literal["dirty_tree", "variant_differs", "answers", "same_launch", "provenance_differs", "single"]

TRAILER = "Touchstone-Promote"


@dataclass(frozen=True)
class Note:
    """Something to be shown before the promotion; it does not stop it. `lines`: a unified diff."""

    code: NoteCode
    what: str
    lines: list[str] = field(default_factory=list)


def notes(runs: Sequence[MeasuredRun], typical: int, today: Today, *, with_answers: bool) -> list[Note]:
    """What a person is shown before the promotion, most important first."""
    shown = runs[typical]
    return [
        *_moved_variants(shown.suite, today.suite),
        *_dirty(runs),
        *_launches(runs),
        *_provenances(runs),
        *(
            [Note("single", "one run: its noise is unknown, and so is every later comparison's")]
            if len(runs) == 1
            else []
        ),
        *(_published(shown) if with_answers else []),
    ]


def is_the_same(baseline: Baseline, kept: Baseline) -> bool:
    """Whether a new baseline says nothing that the one it would replace does not say already."""
    moves = {"replaces", "digest"} | ({"reason"} if baseline.reason is None else set())
    return baseline.model_dump(exclude=moves) == kept.model_dump(exclude=moves)


def refresh(text: str | bytes, source: str) -> str:
    """A baseline whose layout was damaged, written anew. BadInputError where its content was."""
    return dump(parse(text, source))


def branch_of(tenant: str, pack: str, target: str | None, into: str | None = None) -> str:
    """`touchstone/promote/<tenant>-<pack>[-target]`; into a branch that is not the default one, with
    `into/<branch>` before the name: two pull requests need two branches.
    """
    named = "-".join(part for part in (tenant, pack, target) if part is not None)
    return f"touchstone/promote/{named}" if into is None else f"touchstone/promote/into/{into}/{named}"


def trailer_of(tenant: str, pack: str, target: str | None) -> str:
    """The line by which a promotion's commit is known as ours."""
    return f"{TRAILER}: {tenant}/{pack}" + (f".{target}" if target is not None else "")


def promotion_message(baseline: Baseline, replaces: Baseline | None) -> str:
    """The commit's message, without its trailer. Nothing in it comes from a model's text."""
    where = baseline.tenant + (f", {baseline.target}" if baseline.target is not None else "")
    typical = next(run for run in baseline.runs if run.typical)
    count = len(baseline.runs)
    lines = [
        f"baseline: promote {baseline.pack.id} ({where})",
        "",
        *([f"Reason: {_one_line(baseline.reason)}", ""] if baseline.reason else []),
        f"{_one_line(typical.id)} of {typical.day}"
        + (f", the typical one of {count} runs, all of them kept." if count > 1 else ", a single run."),
        *(f"- {line}" for line in _cell_lines(baseline, replaces)),
        f"{'Replaces ' + replaces.digest if replaces is not None else 'The first reference'}.",
    ]
    return "\n".join(lines) + "\n"


def _moved_variants(promoted: Suite, tree: Suite) -> Iterator[Note]:
    for id_ in dict.fromkeys([*promoted.variants, *tree.variants]):
        if id_ not in tree.variants:
            yield Note("variant_differs", f"the tree has no variant {id_}, which is promoted")
        elif id_ not in promoted.variants:
            yield Note("variant_differs", f"variant {id_} of the tree was not measured")
        elif promoted.variants[id_].text != tree.variants[id_].text:
            old, new = ((suite.variants[id_].text or "").split("\n") for suite in (tree, promoted))
            diff = difflib.unified_diff(old, new, "tree", "promoted", lineterm="")
            yield Note("variant_differs", f"the tree's prompt {id_} is not the promoted one", list(diff))


def _dirty(runs: Sequence[MeasuredRun]) -> Iterator[Note]:
    ids = [run.result.run.id for run in runs if run.result.run.clean is False]
    if ids:
        yield Note("dirty_tree", f"measured on a working tree that was not clean: {', '.join(ids)}")


def _launches(runs: Sequence[MeasuredRun]) -> Iterator[Note]:
    known = [run.result.run.launch for run in runs if run.result.run.launch is not None]
    if len(set(known)) < len(known):
        yield Note("same_launch", "runs from one launch of the engine agree more than runs of separate ones")


def _provenances(runs: Sequence[MeasuredRun]) -> Iterator[Note]:
    first = _made_by(runs[0])
    moved = [found for run in runs[1:] for found in differences(first, _made_by(run))]
    words = [f"{place}: {shown_value(one)}, {shown_value(other)}" for place, one, other in moved]
    for difference in dict.fromkeys(words):
        yield Note("provenance_differs", f"the runs differ in {difference}")


def _made_by(run: MeasuredRun) -> dict[str, Any]:
    found = run.result.provenance.to_json()
    names = ("chip", "engine", "engine_version", "runtime")
    quants = {model.id: model.quant for model in run.manifest.models}
    return {name: found[name] for name in names} | {"quant": quants}


def _published(run: MeasuredRun) -> Iterator[Note]:
    answers = [repeat.answer_chars or 0 for row in run.result.rows for repeat in row.repeats]
    yield Note(
        "answers",
        f"{len(answers)} answers ({sum(answers)} characters of model text) are about to be committed; "
        "--no-answers leaves them out",
    )


def _cell_lines(baseline: Baseline, replaces: Baseline | None) -> Iterator[str]:
    was = {(cell.model, cell.variant): cell.quality.pct for cell in replaces.cells} if replaces else {}
    for cell in baseline.cells:
        key = (cell.model, cell.variant)
        before = f"{_pct(was[key])} → " if key in was else ""
        yield f"{_one_line(cell.model)} · {cell.variant}: {before}{_pct(cell.quality.pct)}"


def _pct(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.1f} %"


def _one_line(text: str) -> str:
    return re.sub(r"[\x00-\x20\x7f-\x9f\u2028\u2029]+", " ", text).strip()
