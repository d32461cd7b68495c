"""One row in full: the question, what the reference and the run answered, and what was said of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from touchstone.baseline.comparability import model_names
from touchstone.baseline.sides import RowKey, Side
from touchstone.errors import BadInputError
from touchstone.gate.further import read_confirm_plan, with_further_draws
from touchstone.gate.held import Held, renamed_models, side_of_run
from touchstone.gate.reference import Reference
from touchstone.judge.phase import read_verdicts
from touchstone.records import Record
from touchstone.result.schema import Repeat, Row, RowState
from touchstone.run.bundle import Bundle
from touchstone.run.records import SampleKey


class SaidOf(Record):
    """One answer and the verdict on it. `answer` is null where it was not kept, `rationale` where none is."""

    answer: str | None
    verdict: Repeat
    rationale: str | None = None


class RowSide(Record):
    """A row on one side. `draws` are the scores of all its draws, the shown one included."""

    pct: float | None
    state: RowState | None
    draws: list[float | None]
    repeats: list[SaidOf]


class RowBeside(Record):
    """A row of a run beside its reference's; `reference` is null where that has no such row."""

    model: str
    variant: str
    prompt: str
    question: str
    reference: RowSide | None
    run: RowSide


def rows_beside(
    bundle: Bundle, reference: Reference | None, prompt: str, variant: str | None = None
) -> list[RowBeside]:
    """Every model and variant of one prompt; `variant` narrows it. BadInputError where it is not there."""
    new = side_of_run(bundle)
    if prompt not in new.suite.cases:
        raise BadInputError(f"{bundle.id}: no prompt {prompt!r}", "It has: " + ", ".join(new.suite.cases))
    if variant is not None and variant not in new.suite.variants:
        raise BadInputError(
            f"{bundle.id}: no variant {variant!r}", "It has: " + ", ".join(new.suite.variants)
        )
    if reference is not None:
        rounds = read_confirm_plan(bundle, Held(reference, bundle).identity).rounds
        new = with_further_draws(new, bundle, rounds)
    old = reference.side if reference else None
    names = model_names(_models(old.draws), _models(new.draws), renamed_models(bundle)) if old else {}
    return [
        RowBeside(
            model=row.model,
            variant=row.variant,
            prompt=prompt,
            question=new.suite.cases[prompt].input,
            reference=_side(old, (names.get(row.model, row.model), *row.key[1:])) if old else None,
            run=_with_rationales(_side(new, row.key), bundle, row),
        )
        for row in new.draws[new.typical]
        if row.prompt == prompt and variant in {None, row.variant}
    ]


def _side(side: Side, key: RowKey) -> RowSide | None:
    draws = [row for draw in side.draws for row in draw if row.key == key]
    shown = next((row for row in side.draws[side.typical] if row.key == key), None)
    if shown is None:
        return None
    texts: Sequence[str] = (side.answers or {}).get(key, ())
    return RowSide(
        pct=shown.pct,
        state=shown.state,
        draws=[row.pct for row in draws],
        repeats=[
            SaidOf(answer=texts[number] if number < len(texts) else None, verdict=repeat)
            for number, repeat in enumerate(shown.repeats)
        ],
    )


def _with_rationales(side: RowSide | None, bundle: Bundle, row: Row) -> RowSide:
    """The run's own verdicts carry the judge's words; a baseline keeps none."""
    if side is None:
        raise ValueError("a run's own row is on its side")
    said = _rationales(bundle, row)
    repeats = [one.model_copy(update={"rationale": said.get(one.verdict.repeat)}) for one in side.repeats]
    return side.model_copy(update={"repeats": repeats})


def _rationales(bundle: Bundle, row: Row) -> Mapping[int, str | None]:
    verdicts, draw = read_verdicts(bundle.path), bundle.manifest.draw
    keys = {repeat.repeat: SampleKey(*row.key, repeat.repeat, draw) for repeat in row.repeats}
    return {number: verdicts[key].rationale for number, key in keys.items() if key in verdicts}


def _models(draws: Iterable[Iterable[Row]]) -> list[str]:
    return list(dict.fromkeys(row.model for draw in draws for row in draw))
