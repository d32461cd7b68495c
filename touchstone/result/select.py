"""Select: which of several runs of an unchanged system is the typical one.

Each row whose value differs between the runs votes for the run that holds the middle value. The run most
often in the middle is chosen; all draws are kept in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from touchstone.errors import RefusedError
from touchstone.files import json_line
from touchstone.pack.checks import LABEL_CHECK
from touchstone.records import Record
from touchstone.result.numbers import mean
from touchstone.result.schema import ResultDoc, Row

SELECTION_SCHEMA = 1

RUNS_MIN = 3
_IDS_SHOWN = 5
PACKS_OWN_ERRORS = frozenset({"check_error", "no_class"})
"""Why a check or a label has no verdict: judging the same answer again cannot change it."""


class RowValue(Record):
    """What a row is ordered by, in this order: a higher pct is better, then fewer flags, then fewer
    failed checks, then more answers of the right class (null without labels)."""

    pct: float
    flags: int
    failed_checks: int
    class_right: int | None


class DifferingRow(Record):
    """A row whose value differs: each run's value, and the indexes of the runs that hold the middle one."""

    model: str
    variant: str
    prompt: str
    values: list[RowValue]
    middle: list[int]


class Cost(Record):
    """What a run cost, judging included. Tokens are null unless all of them were counted."""

    tokens: int | None
    calls: int


class Selection(Record):
    """The choice and everything it rests on. Lists hold the runs in the order they were given."""

    schema_version: Literal[1] = 1
    runs: list[str]
    chosen: int
    decided_by: Literal["votes", "tokens", "calls", "age"]
    """`votes` when one run was alone most often in the middle, else the first thing that told them apart."""
    tally: list[int]
    """How often each run held a middle value."""
    rows: list[DifferingRow]
    rows_compared: int
    totals: list[float]
    """Mean pct over all rows."""
    outlier_total: bool
    """The chosen run's total is not the middle one of the totals."""
    costs: list[Cost]
    same_launch: bool | None
    """Whether two runs come from one launch of the engine; null where that could not be seen."""

    @property
    def run(self) -> str:
        """The id of the chosen run."""
        return self.runs[self.chosen]


def select_typical(runs: Sequence[ResultDoc]) -> Selection:
    """The typical one of an odd number, at least three, of runs of the same frozen system.

    Ties go to the cheaper run (tokens, then calls; tokens count only where all of the tied were
    counted), then to the one that started first, then to the lower id. So the order the runs are given in
    does not matter. Raises RefusedError naming everything that keeps the runs from being compared.
    """
    reasons = selection_refusals(runs)
    if reasons:
        raise RefusedError(
            "these runs cannot be chosen from:\n" + "\n".join(f"- {reason}" for reason in reasons),
            "Make three runs of the system as it stands: touchstone measure --times 3 --pack PACK",
        )
    rows = _differing_rows(runs)
    tally = [sum(index in row.middle for row in rows) for index in range(len(runs))]
    costs = [cost_of(run) for run in runs]
    chosen, decided_by = _winner(runs, tally, costs)
    totals = [mean([row.pct for row in run.rows if row.pct is not None]) for run in runs]
    return Selection(
        runs=[run.run.id for run in runs],
        chosen=chosen,
        decided_by=decided_by,
        tally=tally,
        rows=rows,
        rows_compared=len(runs[0].rows),
        totals=totals,
        outlier_total=totals[chosen] != _middle(totals),
        costs=costs,
        same_launch=_share_a_launch(runs),
    )


def selection_refusals(runs: Sequence[ResultDoc]) -> list[str]:
    """Every reason why no typical run can be chosen from these, empty if one can."""
    return [
        *_count_refusals(runs),
        *(reason for run in runs for reason in _run_refusals(run)),
        *(reason for run in runs[1:] for reason in run_differences(runs[0], run)),
    ]


def run_differences(first: ResultDoc, other: ResultDoc) -> list[str]:
    """Every way in which two runs are not draws of one frozen system, with both values."""
    pair = f"{first.run.id} and {other.run.id}"
    found = [
        *_field_differences(_identity(first), _identity(other)),
        *_field_differences(first.instrument.to_json(), other.instrument.to_json(), "instrument"),
        *_field_differences(first.rules.to_json(), other.rules.to_json(), "rules"),
        *_field_differences(_texts(first), _texts(other), "prompt"),
        *_field_differences(_cases(first), _cases(other), "case"),
        *_row_differences(first, other),
    ]
    return [f"{pair} differ in {difference}" for difference in found]


def cost_of(run: ResultDoc) -> Cost:
    """What a run cost over all its cells."""
    counts = [
        count
        for cell in run.cells
        for count in (cell.usage.prompt_tokens, cell.usage.completion_tokens, cell.usage.judge_tokens)
    ]
    known = [count for count in counts if count is not None]
    return Cost(
        tokens=sum(known) if len(known) == len(counts) else None,
        calls=sum(cell.usage.calls + cell.usage.judge_calls for cell in run.cells),
    )


def row_value(row: Row) -> RowValue:
    """The value of a scored row without errors."""
    checks = [(id_, check.status) for repeat in row.repeats for id_, check in repeat.checks.items()]
    classes = [status for id_, status in checks if id_ == LABEL_CHECK]
    return RowValue(
        pct=row.pct or 0.0,
        flags=sum(repeat.red_flag is True for repeat in row.repeats),
        failed_checks=sum(status == "fail" for id_, status in checks if id_ != LABEL_CHECK),
        class_right=classes.count("pass") if classes else None,
    )


def _count_refusals(runs: Sequence[ResultDoc]) -> Iterator[str]:
    if len(runs) < RUNS_MIN or len(runs) % 2 == 0:
        yield f"{len(runs)} given; a middle needs an odd number of runs, at least {RUNS_MIN}"
    ids = [run.run.id for run in runs]
    for run_id in sorted({run_id for run_id in ids if ids.count(run_id) > 1}):
        yield f"{run_id} is given {ids.count(run_id)} times; each run may be given once"


def _run_refusals(run: ResultDoc) -> Iterator[str]:
    missing = [row.prompt for row in run.rows if row.state is None]
    errors = [row.prompt for row in run.rows if row.state == "error"]
    if not run.rows:
        yield f"{run.run.id} has no rows"
    if missing:
        yield f"{run.run.id} is not judged to the end: {_listed(missing)}"
    if errors:
        yield f"{run.run.id} has rows that could not be judged: {_listed(errors)}"
    by_check = [row.prompt for row in run.rows if any(one.reason in PACKS_OWN_ERRORS for one in row.repeats)]
    if by_check:
        yield (
            f"{run.run.id} has rows whose check could not read the answer: {_listed(by_check)}; it says so "
            "every time, so change the check before you measure again"
        )
    if not run.run.complete and not missing and not errors:
        yield f"{run.run.id} is not complete"
    if run.run.rejudged:
        yield f"{run.run.id} holds another run's answers, judged again: no draw of its own"
    if run.run.reused_verdicts:
        yield f"{run.run.id} has {run.run.reused_verdicts} verdicts of another run: no draw of its own"


def _listed(prompts: Sequence[str]) -> str:
    unique = list(dict.fromkeys(prompts))
    more = len(unique) - _IDS_SHOWN
    return ", ".join(unique[:_IDS_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _identity(run: ResultDoc) -> dict[str, Any]:
    return {"pack": run.provenance.pack_id, "tenant": run.run.tenant, "target": run.run.target}


def _texts(run: ResultDoc) -> dict[str, Any]:
    return {name: variant.sha256 for name, variant in run.variants.items()}


def _cases(run: ResultDoc) -> dict[str, Any]:
    return {prompt: case.to_json() for prompt, case in run.cases.items()}


def _row_differences(first: ResultDoc, other: ResultDoc) -> Iterator[str]:
    """Rows, or repeats of one, that only one of the two has; prompts and variants have been named already."""
    counts = [{row.key: len(row.repeats) for row in run.rows} for run in (first, other)]
    models = [list(dict.fromkeys(row.model for row in run.rows)) for run in (first, other)]
    if models[0] != models[1]:
        yield f"models: {json_line(models[0])} → {json_line(models[1])}"
        return
    for key in dict.fromkeys([*counts[0], *counts[1]]):
        was, now = counts[0].get(key, 0), counts[1].get(key, 0)
        if was != now:
            yield f"repeats of {' · '.join(key)}: {was} → {now}"


def _field_differences(old: Any, new: Any, path: str = "") -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            inner = f"{path}.{key}" if path else str(key)
            yield from _field_differences(old.get(key), new.get(key), inner)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (left, right) in enumerate(zip(old, new, strict=True)):
            yield from _field_differences(left, right, f"{path}[{index}]")
    elif old != new:
        yield f"{path}: {json_line(old)} → {json_line(new)}"


def _differing_rows(runs: Sequence[ResultDoc]) -> list[DifferingRow]:
    values = [{row.key: row_value(row) for row in run.rows} for run in runs]
    found = []
    for key in values[0]:
        held = [of_run[key] for of_run in values]
        if any(value != held[0] for value in held):
            middle = _middle([_order(value) for value in held])
            holders = [index for index, value in enumerate(held) if _order(value) == middle]
            model, variant, prompt = key
            found.append(
                DifferingRow(model=model, variant=variant, prompt=prompt, values=held, middle=holders)
            )
    return found


def _order(value: RowValue) -> tuple[float, int, int, int]:
    """Worst first."""
    return (value.pct, -value.flags, -value.failed_checks, value.class_right or 0)


def _middle(values: Sequence[Any]) -> Any:
    """The middle one of an odd number of values."""
    return sorted(values)[len(values) // 2]


def _winner(
    runs: Sequence[ResultDoc], tally: Sequence[int], costs: Sequence[Cost]
) -> tuple[int, Literal["votes", "tokens", "calls", "age"]]:
    tied = [index for index in range(len(runs)) if tally[index] == max(tally)]
    if len(tied) == 1:
        return tied[0], "votes"
    if all(costs[index].tokens is not None for index in tied):
        tied = _lowest(tied, lambda index: costs[index].tokens)
        if len(tied) == 1:
            return tied[0], "tokens"
    tied = _lowest(tied, lambda index: costs[index].calls)
    if len(tied) == 1:
        return tied[0], "calls"
    return min(tied, key=lambda index: (runs[index].run.started, runs[index].run.id)), "age"


def _lowest(indexes: Sequence[int], value: Callable[[int], Any]) -> list[int]:
    least = min(value(index) for index in indexes)
    return [index for index in indexes if value(index) == least]


def _share_a_launch(runs: Sequence[ResultDoc]) -> bool | None:
    launches = [run.run.launch for run in runs if run.run.launch is not None]
    if len(set(launches)) < len(launches):
        return True
    return False if len(launches) == len(runs) else None
