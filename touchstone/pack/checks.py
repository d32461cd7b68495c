"""What a pack may say about an answer without asking a model: one class per check type.

Only the shape lives here; how a check is run is in `touchstone.judge.checks`, one file per type.
Every check scores 0…1 and passes when its score reaches `threshold`.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

LABEL_CHECK = "label"
"""Id of the implicit check of a labelled prompt."""


class CheckBase(BaseModel):
    """What every check has. `id` defaults to the type, then `type-2` and so on, unique per prompt."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    default_threshold: ClassVar[float] = 1.0
    counts: ClassVar[bool] = True
    """False: listed only, never in pct or in the verdict."""

    id: str | None = None
    weight: float = Field(default=1.0, gt=0)
    threshold: float | None = Field(default=None, ge=0, le=1)
    tolerance: float = Field(default=0.0, ge=0, le=1)


class Equals(CheckBase):
    """The whole answer, trailing white space aside. `normalize` folds white space and Unicode NFC."""

    type: Literal["equals"]
    value: str
    ignore_case: bool = False
    normalize: bool = False


class _Needle(CheckBase):
    value: str = Field(min_length=1)
    ignore_case: bool = False


class Contains(_Needle):
    """The answer contains `value`."""

    type: Literal["contains"]


class NotContains(_Needle):
    """The answer does not contain `value`."""

    type: Literal["not_contains"]


class StartsWith(_Needle):
    """The answer, leading white space aside, starts with `value`."""

    type: Literal["starts_with"]


class EndsWith(_Needle):
    """The answer, trailing white space aside, ends with `value`."""

    type: Literal["ends_with"]


class Regex(CheckBase):
    """`pattern` (Python syntax) is found in the answer."""

    type: Literal["regex"]
    pattern: str


class NotRegex(CheckBase):
    """`pattern` (Python syntax) is not found in the answer."""

    type: Literal["not_regex"]
    pattern: str


class Count(CheckBase):
    """`pattern` is found at least `min` and at most `max` times."""

    type: Literal["count"]
    pattern: str
    min: int | None = Field(default=None, ge=0)
    max: int | None = Field(default=None, ge=0)


class Length(CheckBase):
    """The answer's length in characters, words or lines, trailing white space aside."""

    type: Literal["length"]
    unit: Literal["chars", "words", "lines"]
    min: int | None = Field(default=None, ge=0)
    max: int | None = Field(default=None, ge=0)


class Json(CheckBase):
    """The answer is one JSON value (`allow_fence`: a single Markdown fence around it is fine)."""

    type: Literal["json"]
    allow_fence: bool = False


class JsonSchema(CheckBase):
    """The answer is JSON that satisfies `schema`. No `$ref` reaches the network."""

    type: Literal["json_schema"]
    # "schema" is the name in the file; BaseModel owns that attribute name.
    schema_: dict[str, Any] = Field(alias="schema")
    allow_fence: bool = False


class Numeric(CheckBase):
    """The first number in the answer (or group 1 of `pattern`) is within `within` of `value`."""

    type: Literal["numeric"]
    value: float
    within: float = Field(default=0.0, ge=0)
    pattern: str | None = None


class Levenshtein(CheckBase):
    """Similarity 1 − distance ÷ longer length; passes from 0.8 on unless `threshold` says otherwise."""

    default_threshold: ClassVar[float] = 0.8

    type: Literal["levenshtein"]
    value: str = Field(min_length=1)


class Tokens(CheckBase):
    """At most `max` completion tokens; error where the engine does not count them."""

    type: Literal["tokens"]
    max: int = Field(gt=0)


class Latency(CheckBase):
    """Time limits in seconds. Listed only: never in pct or verdict."""

    counts: ClassVar[bool] = False

    type: Literal["latency"]
    ttft_max_s: float | None = Field(default=None, gt=0)
    e2e_max_s: float | None = Field(default=None, gt=0)


Check = Annotated[
    Equals
    | Contains
    | NotContains
    | StartsWith
    | EndsWith
    | Regex
    | NotRegex
    | Count
    | Length
    | Json
    | JsonSchema
    | Numeric
    | Levenshtein
    | Tokens
    | Latency,
    Field(discriminator="type"),
]

CHECKS: TypeAdapter[list[Check]] = TypeAdapter(list[Check])
"""Reads a prompt's checks where they are kept as plain values."""
