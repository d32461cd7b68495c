"""What is measured of a run beyond its planned draw: frozen round by round, and read back as evidence.

`confirm.json` lies in the run's folder. A round names further draws of single rows (draws 11, 12 …,
whose answers and verdicts are lines like any other) and answers of the first run to be judged again
(passes 1, 2 …). What a round still needs is what it names minus what the lines hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import ValidationError

from touchstone.baseline.evidence import AnswerKey, Evidence, Measure
from touchstone.baseline.sides import RowKey, Side
from touchstone.errors import BadInputError
from touchstone.files import read_json, write_json
from touchstone.gate.runs import manifest_of
from touchstone.judge.phase import read_verdicts
from touchstone.judge.records import Verdict
from touchstone.records import Record, check_schema
from touchstone.result.rows import rows_of
from touchstone.result.schema import Row
from touchstone.result.scorecard import score_rows
from touchstone.run import plan
from touchstone.run.bundle import Bundle
from touchstone.run.records import Manifest, SampleKey

CONFIRM_NAME = "confirm.json"
CONFIRM_SCHEMA = 1

CHECK_DRAW = 10
"""The planned draw of a check; draws 0, 1, 2 … are those of a promotion."""


class Round(Record):
    """One round. `asked`: (model, variant, prompt, repeat, draw); `judged`: (…, repeat, pass)."""

    asked: list[tuple[str, str, str, int, int]]
    judged: list[tuple[str, str, str, int, int]]

    @property
    def samples(self) -> list[SampleKey]:
        """The further draws' samples, one model after another."""
        return [SampleKey(*key) for key in self.asked]


class ConfirmPlan(Record):
    """The rounds of one run against one reference.

    `over_budget`: a limit did not allow to measure everything suspect, or to rule out the judge.
    """

    schema_version: Literal[1] = 1
    run: str
    reference: str
    rounds: list[Round]
    over_budget: bool = False

    def followed_by(self, round_: Round) -> ConfirmPlan:
        """The plan with one more round."""
        return self.model_copy(update={"rounds": [*self.rounds, round_]})


def read_confirm_plan(bundle: Bundle, reference: str) -> ConfirmPlan:
    """The rounds kept in a run's folder; none where it was confirmed against another reference or never."""
    path, empty = bundle.path / CONFIRM_NAME, ConfirmPlan(run=bundle.id, reference=reference, rounds=[])
    if not path.exists():
        return empty
    value = read_json(path)
    check_schema(value, CONFIRM_SCHEMA, str(path))
    try:
        kept = ConfirmPlan.model_validate(value)
    except ValidationError:
        raise BadInputError(f"{path}: not a confirm plan", "Start a new run: touchstone check") from None
    return kept if kept.reference == reference else empty


def write_confirm_plan(bundle: Bundle, confirm: ConfirmPlan) -> None:
    """Freeze what will be measured before any of it is."""
    write_json(bundle.path / CONFIRM_NAME, confirm.to_json(), sort_keys=False)


def next_round(measures: Sequence[Measure], manifest: Manifest, rounds: Sequence[Round]) -> Round:
    """The measures as samples and passes that no line of the run belongs to yet."""
    asked = {(m.model, m.variant, m.prompt): m.times for m in measures if m.kind == "ask"}
    first = {key: 1 + _last_draw(key, manifest, rounds) for key in asked}
    models = [model.id for model in manifest.models]
    samples = [
        SampleKey(*key[:4], draw)
        for key in plan.samples(manifest)
        for draw in range(first.get(key[:3], 0), first.get(key[:3], 0) + asked.get(key[:3], 0))
    ]
    samples.sort(key=lambda key: (models.index(key.model), key.draw))
    return Round(
        asked=[tuple(key) for key in samples],
        judged=[judging for measure in measures for judging in _judgings(measure, rounds)],
    )


def with_further_draws(side: Side, bundle: Bundle, rounds: Sequence[Round]) -> Side:
    """A run's side with every row of its further draws that is answered and judged."""
    keys = {key for round_ in rounds for key in round_.samples}
    if not keys:
        return side
    responses, verdicts = bundle.outlines(), read_verdicts(bundle.path)
    draws = []
    for draw in sorted({key.draw for key in keys}):
        manifest = manifest_of(bundle).model_copy(update={"draw": draw})
        rows = score_rows(rows_of(manifest, responses, verdicts), side.suite)
        draws.append(tuple(row for row in rows if _is_complete(row)))
    return replace(side, draws=(*side.draws, *(rows for rows in draws if rows)))


def evidence_of(bundle: Bundle, side: Side, confirm: ConfirmPlan, control: Sequence[Row]) -> Evidence:
    """What judging the first run's answers again has said so far."""
    judged = [key for round_ in confirm.rounds for key in round_.judged]
    if not judged:
        return Evidence(control=control, given_up=confirm.over_budget)
    said = {pass_: read_verdicts(bundle.path, pass_) for pass_ in sorted({key[4] for key in judged})}
    flags: dict[AnswerKey, list[bool | None]] = {}
    for model, variant, prompt, repeat, pass_ in judged:
        verdict = said[pass_].get(SampleKey(model, variant, prompt, repeat, bundle.manifest.draw))
        if verdict is not None:
            flags.setdefault((model, variant, prompt, repeat), []).append(verdict.red_flag)
    return Evidence(
        flags=flags,
        rejudged=_judged_again(bundle, side, said.get(1, {})),
        control=control,
        given_up=confirm.over_budget,
    )


def _last_draw(row: RowKey, manifest: Manifest, rounds: Iterable[Round]) -> int:
    drawn = [key.draw for round_ in rounds for key in round_.samples if key[:3] == row]
    return max([CHECK_DRAW, manifest.draw, *drawn])


def _judgings(measure: Measure, rounds: Sequence[Round]) -> list[tuple[str, str, str, int, int]]:
    if measure.kind != "judge" or measure.repeat is None:
        return []
    answer = (measure.model, measure.variant, measure.prompt, measure.repeat)
    last = max([0, *(key[4] for round_ in rounds for key in round_.judged if key[:4] == answer)])
    return [(*answer, pass_) for pass_ in range(last + 1, last + 1 + measure.times)]


def _is_complete(row: Row) -> bool:
    return all(repeat.status is not None and repeat.verdict is not None for repeat in row.repeats)


def _judged_again(bundle: Bundle, side: Side, verdicts: Mapping[SampleKey, Verdict]) -> list[Row]:
    """The first run's rows as pass 1 sees them, where it has seen every repeat."""
    as_first = {key: verdict.replaced(pass_=0) for key, verdict in verdicts.items()}
    rows = rows_of(manifest_of(bundle), bundle.outlines(), as_first)
    return [row for row in score_rows(rows, side.suite) if _is_complete(row)]
