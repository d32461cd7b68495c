"""The suite: a pack and the settings that measure it, resolved and frozen.

A manifest and a baseline carry a suite, so judging, scoring and comparing never look at the pack file
again. `touchstone.pack.digest` makes one from a pack.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ValidationError, field_validator
from pydantic.dataclasses import dataclass
from pydantic_core import PydanticCustomError

from touchstone.config import CompareSettings
from touchstone.pack.checks import CHECKS
from touchstone.pack.schema import CalibrationItem, KoRule, Labels, Sampling
from touchstone.records import COMPACT, CompactRecord, Record


class InstrumentDimension(Record):
    """A dimension as the judge sees it."""

    id: str
    name: str
    weight: float
    about: str | None = None


class JudgeInstrument(Record):
    """Who scores. `version` is what the judge's endpoint told, null where it hides it."""

    model: str
    version: str | None = None
    temperature: float
    seed: int | None
    samples: int
    prompt_version: int
    prompt_sha256: str
    thinking: str | None = None


class Instrument(Record):
    """What measures. Two results with different instruments are not comparable."""

    scale: dict[int, str]
    dimensions: list[InstrumentDimension]
    sampling: Sampling
    extra_body: dict[str, dict[str, Any]]
    """Per model id, only where set."""
    labels: Labels | None
    calibration: list[CalibrationItem]
    judge: JudgeInstrument | None


class Line(Record):
    """Where a line is drawn, and how far below the reference a value may fall."""

    threshold: float | None
    tolerance: float


class Rules(Record):
    """Where the lines are drawn. They label; they do not measure."""

    dimensions: dict[str, Line]
    checks: dict[str, Line]
    """Keyed `prompt/check`."""
    ko_rule: KoRule | None
    """Null exactly where the pack has no dimensions."""
    compare: CompareSettings


@dataclass(**COMPACT)
class Rubric(CompactRecord):
    """How one prompt's answer is looked at. `checks` are the pack's, without threshold and tolerance."""

    tests: str | None
    green_flags: list[str]
    red_flags: list[str]
    dimensions: list[str]
    checks: list[dict[str, Any]]
    repeats: int
    max_tokens: int | None
    label: str | None
    safety_critical: bool

    @field_validator("checks")
    @classmethod
    def _can_run(cls, checks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """A file from elsewhere is refused where it is read, not where one of its checks is due."""
        try:
            CHECKS.validate_python(checks)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            told = {"place": place, "what": first["msg"]}
            raise PydanticCustomError("check", "no check at {place}: {what}", told) from None
        return checks


@dataclass(**COMPACT)
class Case(CompactRecord):
    """One prompt: its text, its rubric and the hash of each."""

    category: str
    input: str
    rubric: Rubric
    input_sha256: str
    rubric_sha256: str


class VariantText(Record):
    """A variant's system prompt, verbatim. All null means none is sent."""

    sha256: str | None
    source: str | None
    """`pack`, or the prompt file's path relative to the repository."""
    text: str | None


class Hashes(Record):
    """What decides promotion (config), comparison (instrument), labels (rules), and the pack's own."""

    instrument: str
    rules: str
    config: str
    pack: str


class Suite(Record):
    """Everything that was asked and how it is measured."""

    pack_id: str
    pack_version: int
    pack_title: str
    language: str
    pack_sha256: str
    instrument: Instrument
    rules: Rules
    variants: dict[str, VariantText]
    """In declared order."""
    cases: dict[str, Case]
    """By prompt id, in declared order."""

    @property
    def scale_max(self) -> int | None:
        """The highest score a dimension can get; null for a pack without dimensions."""
        return max(self.instrument.scale) if self.instrument.scale else None

    @property
    def weights(self) -> Mapping[str, float]:
        """Weight of each dimension."""
        return {dimension.id: dimension.weight for dimension in self.instrument.dimensions}

    @property
    def kind(self) -> Literal["judged", "labelled", "checks"]:
        """What a row's pct is made of."""
        if self.instrument.dimensions:
            return "judged"
        return "labelled" if self.instrument.labels else "checks"
