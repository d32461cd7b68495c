"""A run held against its reference: the two sides, and what they say with everything measured so far."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from touchstone.baseline.comparability import model_names
from touchstone.baseline.compare import confirm_plan, control_plan, decide
from touchstone.baseline.comparison import Comparison
from touchstone.baseline.evidence import Evidence, Measure
from touchstone.baseline.sides import RowKey, Side
from touchstone.gate.control import control_rows
from touchstone.gate.further import ConfirmPlan, evidence_of, read_confirm_plan, with_further_draws
from touchstone.gate.reference import Reference, candidate_info, runs_side
from touchstone.gate.rejudged import moved_beside
from touchstone.result.rows import CellKey
from touchstone.run.bundle import Bundle
from touchstone.run.records import Manifest


@dataclass(frozen=True)
class Held:
    """One run and what it is held against. A narrowed run is held against the rows it was asked."""

    reference: Reference
    bundle: Bundle

    @property
    def identity(self) -> str:
        """What tells this reference from others: a baseline's digest, or the runs' ids."""
        return self.reference.info.digest or ",".join(self.reference.side.run_ids)

    @property
    def old(self) -> Side:
        """The reference's side."""
        return _asked_only(self.reference.side, self.bundle.manifest)

    @property
    def renamed(self) -> dict[str, str]:
        """A model's name in the baseline → its name in the run, where the settings say so (`was`)."""
        return renamed_models(self.bundle)

    def plan(self) -> ConfirmPlan:
        """What was measured beyond the first run, as frozen in the run's folder."""
        return read_confirm_plan(self.bundle, self.identity)

    def needs(self, plan: ConfirmPlan) -> list[Measure]:
        """What is still to be measured before the verdict."""
        old, new, evidence = self._sides(plan)
        return confirm_plan(old, new, renamed=self.renamed, evidence=evidence)

    def control_needs(self, plan: ConfirmPlan) -> list[RowKey]:
        """Rows of the baseline whose stored answers today's judge must see before "worse" is said."""
        old, new, evidence = self._sides(plan)
        return control_plan(old, new, renamed=self.renamed, evidence=evidence)

    def control_at_most(self, cells: Collection[CellKey]) -> list[RowKey]:
        """Rows with stored answers that today's judge may have to see if these cells turn out worse."""
        stored = self.old.answers or {}
        manifest = self.bundle.manifest
        names = model_names(_models(stored), [model.id for model in manifest.models], self.renamed)
        old = {(names[model], variant) for model, variant in cells if model in names}
        cases = manifest.suite.cases
        return [
            key for key in stored if key[:2] in old and key[2] in cases and cases[key[2]].rubric.dimensions
        ]

    def comparison(self, plan: ConfirmPlan) -> Comparison:
        """The verdict on everything measured so far."""
        old, new, evidence = self._sides(plan)
        found = decide(
            old,
            new,
            evidence,
            reference=self.reference.info,
            candidate=candidate_info(self.bundle, len(new.draws)),
            renamed=self.renamed,
        )
        manifest = self.bundle.manifest
        applies = {
            "over_budget": plan.over_budget,
            "narrowed": _is_part(manifest),
            "models_left_out": bool(manifest.models_left_out),
        }
        notes = [code for code, does in applies.items() if does] + found.notes
        moved = moved_beside(self.reference, self.bundle)
        return found.model_copy(update={"notes": notes, "judge_moved": moved})

    def answers(self) -> dict[RowKey, tuple[list[str], list[str]]]:
        """The reference's and the run's answers, one per repeat, of every row both keep them of."""
        old, new = self.old, self.bundle.answers()
        kept = old.answers or {}
        names = model_names(_models(kept), _models(new), self.renamed)
        beside = {key: kept.get((names.get(key[0], key[0]), *key[1:])) for key in new}
        return {key: (texts, new[key]) for key, texts in beside.items() if texts is not None}

    def _sides(self, plan: ConfirmPlan) -> tuple[Side, Side, Evidence]:
        # Its answers decide nothing, and of a large run they are much to hold.
        old, new = self.old, side_of_run(self.bundle, with_answers=False)
        control = control_rows(self.bundle, old)
        return (
            old,
            with_further_draws(new, self.bundle, plan.rounds),
            evidence_of(self.bundle, new, plan, control),
        )


def side_of_run(bundle: Bundle, *, with_answers: bool = True) -> Side:
    """One run as a side; a narrowed one has the cases it was asked."""
    return _asked_only(runs_side([bundle], with_answers=with_answers), bundle.manifest)


def renamed_models(bundle: Bundle) -> dict[str, str]:
    """A model's name in the baseline → its name in the run, where the settings say so (`was`)."""
    return {model.was: model.id for model in bundle.manifest.models if model.was is not None}


def _models(rows: Iterable[RowKey]) -> list[str]:
    return list(dict.fromkeys(key[0] for key in rows))


def _is_part(manifest: Manifest) -> bool:
    return manifest.filter is not None or manifest.shard is not None


def _asked_only(side: Side, manifest: Manifest) -> Side:
    """A side without the rows nobody was asked: they are neither gone nor new."""
    if _is_part(manifest):
        side = _of_prompts(side, {prompt for prompt, _ in manifest.plan})
    return _without_models(side, manifest.models_left_out) if manifest.models_left_out else side


def _of_prompts(side: Side, prompts: Collection[str]) -> Side:
    cases = {id_: case for id_, case in side.suite.cases.items() if id_ in prompts}
    return replace(
        side,
        suite=side.suite.model_copy(update={"cases": cases}),
        draws=tuple(tuple(row for row in draw if row.prompt in prompts) for draw in side.draws),
    )


def _without_models(side: Side, names: Collection[str]) -> Side:
    instrument = side.suite.instrument
    bodies = {model: body for model, body in instrument.extra_body.items() if model not in names}
    asked = instrument.model_copy(update={"extra_body": bodies})
    return replace(
        side,
        suite=side.suite.model_copy(update={"instrument": asked}),
        draws=tuple(tuple(row for row in draw if row.model not in names) for draw in side.draws),
    )
