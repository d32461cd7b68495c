"""All that a page tells of one run, gathered from its folder and its reference; every state is theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from touchstone.baseline.comparability import model_names
from touchstone.baseline.comparison import Comparison
from touchstone.baseline.schema import KeptProvenance
from touchstone.baseline.sides import RowKey, Side
from touchstone.gate.further import with_further_draws
from touchstone.gate.held import Held, renamed_models, side_of_run
from touchstone.gate.reference import Reference
from touchstone.gate.runs import load_run
from touchstone.judge.phase import read_verdicts
from touchstone.pack.suite import Instrument, Suite
from touchstone.result.dimensions import dim_means
from touchstone.result.rows import CellKey, rows_by_cell
from touchstone.result.schema import ResultDoc, Row
from touchstone.run.bundle import Bundle


@dataclass(frozen=True)
class Profile:
    """A cell's mean on one dimension: the reference's typical run and this run; null where not scored."""

    model: str
    variant: str
    dimension: str
    name: str
    threshold: float | None
    old: float | None
    new: float | None


@dataclass(frozen=True)
class Beside:
    """What the run was held against. Keys are those of the comparison's rows.

    `old_draws` are the scores of all runs the reference rests on, `new_draws` those of all draws of this
    run, the shown one included; `answers` are the typical run's.
    """

    comparison: Comparison
    provenance: KeptProvenance
    instrument: Instrument
    old_draws: Mapping[RowKey, Sequence[float | None]]
    new_draws: Mapping[RowKey, Sequence[float | None]]
    answers: Mapping[RowKey, Sequence[str]]


@dataclass(frozen=True)
class PageFacts:
    """A run and, where it was held against something, that.

    `questions` are the prompts' texts by id. `answers` and `rationales` (the judge's words, null where
    there are none) have an entry per repeat. `scale` is the lowest and highest score of a dimension.
    """

    title: str
    result: ResultDoc
    scale: tuple[int, int] | None
    questions: Mapping[str, str]
    answers: Mapping[RowKey, Sequence[str]]
    rationales: Mapping[RowKey, Sequence[str | None]]
    profiles: Sequence[Profile]
    beside: Beside | None = None


def page_facts(bundle: Bundle) -> PageFacts:
    """A run by itself."""
    suite, result = bundle.manifest.suite, load_run(bundle).result
    scale = suite.instrument.scale
    return PageFacts(
        title=suite.pack_title,
        result=result,
        scale=(min(scale), max(scale)) if scale else None,
        questions={id_: case.input for id_, case in suite.cases.items()},
        answers=bundle.answers(),
        rationales=_rationales(bundle, result),
        profiles=list(_profiles({}, _means(result.rows), suite)),
    )


def page_facts_beside(bundle: Bundle, reference: Reference, comparison: Comparison) -> PageFacts:
    """A run and its reference, as they were compared."""
    alone, held = page_facts(bundle), Held(reference, bundle)
    old, after = held.old, _means(alone.result.rows)
    names = model_names(_models(old), [cell[0] for cell in after], renamed_models(bundle))
    typical = _means(old.draws[old.typical])
    before = {cell: typical.get((names.get(cell[0], cell[0]), cell[1]), {}) for cell in after}
    return replace(
        alone,
        questions={id_: case.input for id_, case in old.suite.cases.items()} | dict(alone.questions),
        profiles=list(_profiles(before, after, bundle.manifest.suite)),
        beside=Beside(
            comparison=comparison,
            provenance=old.provenance,
            instrument=old.suite.instrument,
            old_draws=_draws(old, comparison, names),
            new_draws=_draws(_with_all_draws(held), comparison, {}),
            answers={key: pair[0] for key, pair in held.answers().items()},
        ),
    )


def _means(rows: Sequence[Row]) -> dict[CellKey, dict[str, float]]:
    return {cell: dim_means(own) for cell, own in rows_by_cell(rows).items()}


def _profiles(
    before: Mapping[CellKey, Mapping[str, float]], after: Mapping[CellKey, Mapping[str, float]], suite: Suite
) -> Iterator[Profile]:
    for (model, variant), means in after.items():
        for dimension in suite.instrument.dimensions:
            yield Profile(
                model=model,
                variant=variant,
                dimension=dimension.id,
                name=dimension.name,
                threshold=suite.rules.dimensions[dimension.id].threshold,
                old=before.get((model, variant), {}).get(dimension.id),
                new=means.get(dimension.id),
            )


def _with_all_draws(held: Held) -> Side:
    return with_further_draws(side_of_run(held.bundle), held.bundle, held.plan().rounds)


def _draws(side: Side, comparison: Comparison, names: Mapping[str, str]) -> dict[RowKey, list[float | None]]:
    """Each compared row's scores; `names` gives a model's name on this side."""
    kept: dict[RowKey, list[float | None]] = {}
    for row in (row for draw in side.draws for row in draw):
        kept.setdefault(row.key, []).append(row.pct)
    keys = [(row.model, row.variant, row.prompt) for row in comparison.rows]
    return {key: kept.get((names.get(key[0], key[0]), *key[1:]), []) for key in keys}


def _rationales(bundle: Bundle, result: ResultDoc) -> dict[RowKey, list[str | None]]:
    """The judge's words on the answers that count: those of the planned draw, judged the first time."""
    said = {
        key: verdict.rationale
        for key, verdict in read_verdicts(bundle.path).items()
        if key.draw == bundle.manifest.draw
    }
    words = {(*key[:3], key.repeat): rationale for key, rationale in said.items()}
    return {row.key: [words.get((*row.key, one.repeat)) for one in row.repeats] for row in result.rows}


def _models(side: Side) -> list[str]:
    return list(dict.fromkeys(row.model for draw in side.draws for row in draw))
