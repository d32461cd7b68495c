"""All that a page tells of one run, gathered from its folder and its reference; every state is theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from touchstone.baseline.comparability import model_names
from touchstone.baseline.comparison import Comparison
from touchstone.baseline.schema import KeptProvenance
from touchstone.baseline.sides import RowKey, Side
from touchstone.gate.further import with_further_draws
from touchstone.gate.held import Held, side_of_run
from touchstone.gate.reference import Reference
from touchstone.gate.runs import load_run, rationales_of
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
    `rebuilt`: the run had no `result.json`.
    """

    title: str
    result: ResultDoc
    scale: tuple[int, int] | None
    questions: Mapping[str, str]
    answers: Mapping[RowKey, Sequence[str]]
    rationales: Mapping[RowKey, Sequence[str | None]]
    profiles: Sequence[Profile]
    beside: Beside | None = None
    rebuilt: bool = False


def page_facts(bundle: Bundle) -> PageFacts:
    """A run by itself."""
    facts = facts_of(bundle.manifest.suite, load_run(bundle).result, bundle.answers(), rationales_of(bundle))
    return replace(facts, rebuilt=not bundle.result_path.exists())


def page_facts_beside(bundle: Bundle, reference: Reference, comparison: Comparison) -> PageFacts:
    """A run and its reference, as they were compared."""
    held = Held(reference, bundle)
    answers = {key: pair[0] for key, pair in held.answers().items()}
    return facts_beside(
        page_facts(bundle), held.old, _with_all_draws(held), comparison, answers, renamed=held.renamed
    )


def facts_of(
    suite: Suite,
    result: ResultDoc,
    answers: Mapping[RowKey, Sequence[str]],
    rationales: Mapping[RowKey, Sequence[str | None]],
) -> PageFacts:
    """The same of values already read."""
    scale = suite.instrument.scale
    return PageFacts(
        title=suite.pack_title,
        result=result,
        scale=(min(scale), max(scale)) if scale else None,
        questions={id_: case.input for id_, case in suite.cases.items()},
        answers=answers,
        rationales=rationales,
        profiles=list(_profiles({}, result)),
    )


def facts_beside(
    facts: PageFacts,
    old: Side,
    new: Side,
    comparison: Comparison,
    answers: Mapping[RowKey, Sequence[str]],
    *,
    renamed: Mapping[str, str],
) -> PageFacts:
    """A run's facts with what it was compared with. `new` has all its draws; `renamed` is as for compare."""
    names = model_names(_models(old), _models(new), renamed)
    typical = _means(old.draws[old.typical])
    cells = ((cell.model, cell.variant) for cell in facts.result.cells)
    before = {cell: typical.get((names.get(cell[0], cell[0]), cell[1]), {}) for cell in cells}
    return replace(
        facts,
        questions={id_: case.input for id_, case in old.suite.cases.items()} | dict(facts.questions),
        profiles=list(_profiles(before, facts.result)),
        beside=Beside(
            comparison=comparison,
            provenance=old.provenance,
            instrument=old.suite.instrument,
            old_draws=_draws(old, comparison, names),
            new_draws=_draws(new, comparison, {}),
            answers=answers,
        ),
    )


def _means(rows: Sequence[Row]) -> dict[CellKey, dict[str, float]]:
    return {cell: dim_means(own) for cell, own in rows_by_cell(rows).items()}


def _profiles(before: Mapping[CellKey, Mapping[str, float]], result: ResultDoc) -> Iterator[Profile]:
    for (model, variant), means in _means(result.rows).items():
        for dimension in result.instrument.dimensions:
            yield Profile(
                model=model,
                variant=variant,
                dimension=dimension.id,
                name=dimension.name,
                threshold=result.rules.dimensions[dimension.id].threshold,
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


def _models(side: Side) -> list[str]:
    return list(dict.fromkeys(row.model for draw in side.draws for row in draw))
