"""The baseline file, schema 1: a result somebody decided to keep, made to be read in `git diff`.

Nothing volatile: no seconds, host noise, tool version, absolute path or judge prose. Everything derived
is recomputed on load and must match (`touchstone.baseline.store`).
"""

from __future__ import annotations

from typing import Literal

from pydantic.dataclasses import dataclass

from touchstone.pack.suite import Hashes, Instrument, Rules
from touchstone.records import COMPACT, CompactRecord, Record
from touchstone.result.schema import Counts, JudgeInfo, LabelReport, ModelReport, RowState
from touchstone.run.records import ResponseStatus

BASELINE_SCHEMA = 1


class PackIdentity(Record):
    """Which pack this is the reference of."""

    id: str
    version: int
    title: str
    language: str
    hash: str


class KeptGit(Record):
    """Where the tree of the typical run stood."""

    commit: str | None
    clean: bool | None


class Replaces(Record):
    """The baseline this one took the place of, and what that did to each cell (`model · variant`)."""

    digest: str
    pct_difference: dict[str, float | None]


class KeptProvenance(Record):
    """What produced the answers. Per model: what it was served as, its quant and where that was read."""

    chip: str | None
    ram_gb: float | None
    os: str | None
    engine: str | None
    engine_version: str | None
    runtime: str | None
    served_model: dict[str, str | None]
    quant: dict[str, str | None]
    quant_origin: dict[str, str | None]


class KeptVariant(Record):
    """A variant's text as lines; the exact text is the lines joined with a newline. Null: none is sent."""

    sha256: str | None
    source: str | None
    lines: list[str] | None


@dataclass(**COMPACT)
class KeptCase(CompactRecord):
    """A prompt and its rubric as lines; the rubric's lines are canonical JSON."""

    category: str
    label: str | None
    input_sha256: str
    rubric_sha256: str
    input: list[str]
    rubric: list[str]


class KeptSpeed(Record):
    """Speed to two significant digits, for information only."""

    ttft_p50: float | None
    decode_med: float | None


class KeptCell(Record):
    """A cell of the typical run."""

    model: str
    variant: str
    quality: ModelReport
    labels: LabelReport | None
    counts: Counts
    answer_tokens_med: float | None
    answer_chars_med: float | None
    speed: KeptSpeed


class KeptRun(Record):
    """One of the runs the baseline rests on. `typical` marks the one whose numbers are shown."""

    id: str
    day: str
    launch: str | None
    commit: str | None
    clean: bool | None
    calls: int
    tokens: int | None
    typical: bool


@dataclass(**COMPACT)
class KeptVerdict(CompactRecord):
    """One line: model × variant × prompt over all runs.

    Every list holds the runs in the order of `runs`, and within a run its repeats; so with three runs
    and one repeat `"Q1": [4, 4, 5]`. `pct` and `state` have one entry per run. They change only when a
    value does.
    """

    model: str
    variant: str
    prompt: str
    repeats: int
    state: list[RowState]
    pct: list[float | None]
    scores: dict[str, list[int]]
    flags: list[bool | None]
    checks: dict[str, list[float | None]]
    """Scores 0…1; whether that passes is a matter of the rules."""
    labels: list[str | None]
    status: list[ResponseStatus]
    chars: list[int | None]
    prompt_tokens: list[int | None]
    completion_tokens: list[int | None]


@dataclass(**COMPACT)
class KeptAnswers(CompactRecord):
    """One line per model × variant × prompt: the hashes of all runs' answers, in the order of `runs`."""

    model: str
    variant: str
    prompt: str
    sha256: list[str]


@dataclass(**COMPACT)
class KeptTexts(CompactRecord):
    """One line per model × variant × prompt: the typical run's answers, one per repeat."""

    model: str
    variant: str
    prompt: str
    texts: list[str]


class Baseline(Record):
    """The whole file, fields in the order they are written."""

    schema_version: Literal[1] = 1
    tenant: str
    target: str | None
    pack: PackIdentity
    date: str
    git: KeptGit
    reason: str | None
    replaces: Replaces | None
    hashes: Hashes
    instrument: Instrument
    rules: Rules
    provenance: KeptProvenance
    judge: JudgeInfo | None
    variants: dict[str, KeptVariant]
    cases: dict[str, KeptCase]
    cells: list[KeptCell]
    runs: list[KeptRun]
    verdicts: list[KeptVerdict]
    answer_hashes: list[KeptAnswers]
    answers: list[KeptTexts] | None
    digest: str
