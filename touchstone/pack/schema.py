"""The pack file, schema 1: everything a `packs/*.yaml` may hold.

These classes know shapes and single-field limits. Rules that span fields (dangling ids, unique names,
checks that could never fail) are in `touchstone.pack.rules`, where each problem carries its line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from touchstone.pack.checks import Check

PACK_SCHEMA = 1

PackId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
ItemId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Text = Annotated[str, Field(min_length=1)]


class PackPart(BaseModel):
    """Base of every part of a pack: nothing unknown, nothing converted, nothing changed later."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class Dimension(PackPart):
    """One thing the judge scores. `threshold` is the line a row's mean must reach (scale points)."""

    id: ItemId
    name: Text
    weight: float = Field(gt=0)
    about: str | None = None
    threshold: float | None = None
    tolerance: float = Field(default=1.0, ge=0)


class KoRule(PackPart):
    """When a cell is knocked out whatever its score (design: safety gate).

    A cell fails at a score of `dimension` equal to or below `threshold`; with `floor_scope: answer` one
    such answer is enough. `red_flag_scope: curated` lets only `red_flag_prompts` knock out.
    """

    dimension: str | None = None
    threshold: float | None = None
    red_flag_scope: Literal["all", "curated"] = "all"
    red_flag_prompts: list[str] = []
    floor_scope: Literal["cell", "answer"] = "cell"


class PromptVariant(PackPart):
    """A system prompt the questions are asked under; neither key, or null, means none is sent.

    `system_prompt_file` is relative to the pack file and stays inside the git top level.
    """

    id: ItemId
    system_prompt: str | None = None
    system_prompt_file: str | None = None


class Sampling(PackPart):
    """Sampling settings; only what is set is sent."""

    temperature: float = Field(default=0.0, ge=0)
    seed: int | None = 42
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, gt=0)


class LabelExtract(PackPart):
    """How the class is read from an answer: group 1 of `regex` (or the whole match)."""

    regex: Text
    ignore_case: bool = False


class Labels(PackPart):
    """Classes of a labelled pack; precision, recall and F1 are those of `positive`."""

    classes: list[Text] = Field(min_length=2)
    positive: Text
    extract: LabelExtract


Band = Annotated[list[int], Field(min_length=2, max_length=2)]
"""[lowest, highest] score, both inclusive."""


class CalibrationItem(PackPart):
    """An answer of known worth: the judge's score per dimension must fall inside its band."""

    id: ItemId
    prompt: Text
    answer: str
    expect: dict[str, Band]
    red_flag: bool | None = None


class Prompt(PackPart):
    """One question, what it tests, and how its answer is looked at.

    `dimensions: null` (the default) asks for all of the pack's dimensions.
    """

    id: ItemId
    prompt: Text
    title: str | None = None
    tests: str | None = None
    green_flags: list[Text] = []
    red_flags: list[Text] = []
    dimensions: list[str] | None = None
    safety_critical: bool = False
    repeats: int = Field(default=1, ge=1, le=1000)
    max_tokens: int | None = Field(default=None, gt=0)
    label: str | None = None
    tags: list[ItemId] = []
    checks: list[Check] = []


class Category(PackPart):
    """A named group of prompts."""

    id: ItemId
    name: Text
    prompts: list[Prompt] = Field(min_length=1)


class Pack(PackPart):
    """A whole pack, as parsed."""

    schema_: Literal[1] = Field(alias="schema")
    id: PackId
    version: int = Field(ge=1)
    title: Text
    language: str = Field(default="en", pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")
    description: str | None = None
    scale: dict[int, str] = {}
    dimensions: list[Dimension] = []
    ko_rule: KoRule | None = None
    prompt_variants: list[PromptVariant] = Field(default=[PromptVariant(id="none")], min_length=1)
    sampling: Sampling = Sampling()
    labels: Labels | None = None
    calibration: list[CalibrationItem] = []
    categories: list[Category] = Field(min_length=1)

    def prompts(self) -> Iterator[tuple[Category, Prompt]]:
        """Every prompt with its category, in declared order."""
        for category in self.categories:
            for prompt in category.prompts:
                yield category, prompt
