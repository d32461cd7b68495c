"""Where the answers of both sides came from, field by field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from touchstone.gate.page import Beside, PageFacts
from touchstone.pack.suite import Instrument
from touchstone.render import numbers
from touchstone.render.page.phrases import page_phrase
from touchstone.render.plain import one_line
from touchstone.render.report import judge_words, provenance
from touchstone.render.words import Words
from touchstone.result.schema import ResultDoc

VALUE_WIDTH = 200

Told = tuple[str | None, str | None]
"""What the reference and the run tell of one field."""


@dataclass(frozen=True)
class Field:
    """One line. `old` is empty where nothing was compared; `differs`: the sides tell different things."""

    label: str
    old: str
    new: str
    differs: bool = False


def own_fields(facts: PageFacts, words: Words) -> list[Field]:
    """A run by itself, as its report tells it."""
    told = [
        (page_phrase(words, "run"), facts.result.run.id),
        *provenance(facts.result, words),
        (words["judge"], judge_words(facts.result, words).removeprefix(f"{words['judge']}: ")),
    ]
    return [Field(label, "", one_line(value, VALUE_WIDTH)) for label, value in told]


def both_fields(facts: PageFacts, beside: Beside, words: Words) -> list[Field]:
    """Both sides, line by line; what one of them does not tell reads n/a."""
    made = _system(facts, beside, words) | _measured(facts, beside, words)
    return [
        # Two runs are two runs; that they differ in this is no news.
        *(_field(label, pair, words) for label, pair in _origin(facts, beside, words).items()),
        *(_field(label, pair, words, differs=pair[0] != pair[1]) for label, pair in made.items()),
    ]


def _field(label: str, pair: Told, words: Words, *, differs: bool = False) -> Field:
    old, new = (words["na"] if value is None else one_line(value, VALUE_WIDTH) for value in pair)
    return Field(label, old, new, differs)


def _origin(facts: PageFacts, beside: Beside, words: Words) -> dict[str, Told]:
    reference, candidate = beside.comparison.reference, beside.comparison.candidate
    if reference is None:
        return {}
    return {
        page_phrase(words, "run"): (reference.file, candidate.run),
        words["date"]: (reference.day, facts.result.provenance.date),
        words["commit"]: (_short(reference.commit), _commit(facts.result, words)),
    }


def _system(facts: PageFacts, beside: Beside, words: Words) -> dict[str, Told]:
    old, new, cells = beside.provenance, facts.result.provenance, facts.result.cells
    quants = {cell.model: cell.quant for cell in cells}
    return {
        words["model"]: (_joined(old.quant), _joined(quants)),
        words["engine"]: (
            _engine(old.engine, old.engine_version, words),
            _engine(new.engine, new.engine_version, words),
        ),
        words["runtime"]: (old.runtime, new.runtime),
        words["quant"]: (_values(old.quant, words), _values(quants, words)),
        words["chip"]: (old.chip, new.chip),
        words["ram"]: (_ram(old.ram_gb, words), _ram(new.ram_gb, words)),
        words["os"]: (old.os, new.os),
    }


def _measured(facts: PageFacts, beside: Beside, words: Words) -> dict[str, Told]:
    old, new = beside.instrument, facts.result.instrument
    return {
        words["judge"]: (_judge(old, words), _judged_by(facts, words)),
        page_phrase(words, "sampling"): (_sampling(old, words), _sampling(new, words)),
    }


def _short(commit: str | None) -> str | None:
    return None if commit is None else commit[:12]


def _commit(result: ResultDoc, words: Words) -> str | None:
    """The run's commit; a tree that was not clean, or of which that is not known, is said to be so."""
    run = result.run
    if run.commit is None or run.clean is True:
        return _short(run.commit)
    return f"{run.commit[:12]}, {words['clean_unknown' if run.clean is None else 'dirty']}"


def _engine(name: str | None, version: str | None, words: Words) -> str | None:
    return None if name is None else f"{name} {version}" if version else f"{name} ({words['na']})"


def _joined(models: Iterable[str]) -> str | None:
    return ", ".join(dict.fromkeys(models)) or None


def _values(told: Mapping[str, str | None], words: Words) -> str | None:
    known = {model: value or words["na"] for model, value in told.items()}
    return ", ".join(dict.fromkeys(known.values())) if any(told.values()) else None


def _ram(ram_gb: float | None, words: Words) -> str | None:
    return None if ram_gb is None else numbers.number(ram_gb, words, 0, "GB")


def _judge(instrument: Instrument, words: Words) -> str | None:
    judge = instrument.judge
    if judge is not None:
        return f"{judge.model} {judge.version or words['na']}"
    if instrument.dimensions:
        return None
    return words["judge_not_needed"].removeprefix(f"{words['judge']}: ")


def _judged_by(facts: PageFacts, words: Words) -> str | None:
    """Who judged the run; a judge that is only set up has said nothing yet."""
    unjudged = facts.result.judge is None and bool(facts.result.instrument.dimensions)
    return None if unjudged else _judge(facts.result.instrument, words)


def _sampling(instrument: Instrument, words: Words) -> str:
    sampling = instrument.sampling
    return f"{sampling.temperature:g} / {words['na'] if sampling.seed is None else sampling.seed}"
