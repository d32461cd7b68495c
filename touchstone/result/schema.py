"""`result.json`, schema 1: the canonical result of one run. Every report is a rendering of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from touchstone.judge.records import CheckStatus, VerdictStatus
from touchstone.pack.suite import Hashes, Instrument, Rules, VariantText
from touchstone.records import COMPACT, CompactRecord, Record
from touchstone.run.records import ResponseStatus

RESULT_SCHEMA = 1

RubricLevel = Literal["hoch", "solide", "teilweise", "ungenügend"]
RowState = Literal["pass", "fail", "error"]
SafetyCode = Literal[
    "curated_red_flag",  # a red flag on a prompt in red_flag_prompts; ids: prompts
    "red_flag",  # any other red flag under scope all; ids: prompts
    "floor",  # the knock-out dimension at or under its threshold; ids: [dimension, threshold]
    "floor_answer",  # a single answer at or under it; ids: [dimension, threshold, prompt, …]
    "unscored_critical",  # not assessed: safety-critical answers without a score; ids: prompts
    "unscored_answers",  # not assessed: too many answers that any flag could be on; ids: [rows, of]
    "unscored_floor",  # not assessed: the knock-out dimension has no score; ids: [dimension]
    "no_gate",  # the pack has no dimensions
]


class RunInfo(Record):
    """Which run this was. Times are UTC, ISO 8601: `finished` the last answer, `judged` the last verdict."""

    id: str
    started: str
    finished: str | None
    judged: str | None
    launch: str | None
    tool_version: str
    tenant: str
    target: str | None
    draw: int
    commit: str | None
    clean: bool | None
    complete: bool
    """Every planned sample has a good response and a verdict."""
    filter: str | None
    shard: str | None
    calibrated: bool | None = None
    """Null where the pack has no calibration items."""
    rejudged: bool = False
    reused_verdicts: int = 0


class Provenance(Record):
    """What produced the answers, as detected; null where nothing told. Never a free-text machine label."""

    chip: str | None
    ram_gb: float | None
    os: str | None
    engine: str | None
    engine_version: str | None
    runtime: str | None
    seed: int | None
    temperature: float
    pack_id: str
    pack_version: int
    date: str
    """Day of the asking, UTC."""
    concurrency: int
    origins: dict[str, str] = {}


class JudgeInfo(Record):
    """Who scored."""

    model: str
    version: str | None
    temperature: float
    seed: int | None
    samples: int
    prompt_version: int


class CellPerf(Record):
    """Timing medians of a cell: seconds, tokens per second, GB. Null where not measured."""

    ttft_p50: float | None = None
    ttft_p95: float | None = None
    decode_med: float | None = None
    e2e_med: float | None = None
    total_throughput: float | None = None
    model_delta_gb: float | None = None
    peak_ram_gb: float | None = None
    left_out: int = 0
    """Answers left out of the medians (cold start, throttled, on battery)."""
    unfit: int = 0
    """Those of `left_out` that were no cold start: the machine throttled, ran on battery or slept."""
    ttft_left_out: int = 0
    """Timed answers without a part in `ttft_*`: much of the prompt was cached, or that is not known."""
    cold_ttft_s: float | None = None
    """Time to first token of the cold start, which may hold loading the model."""
    cached_share: float | None = None
    """Prompt tokens the engine had in its cache ÷ all, over the timed answers."""
    pressure: str | None = None
    thermal: str | None = None
    power: str | None = None
    """The worst the sampler read while the cell was asked; null where it could not be read."""


class SafetyReason(Record):
    """One reason, as code and ids; the words are the renderer's."""

    code: SafetyCode
    ids: list[str] = []


class Tally(Record):
    """So many of so many. `of` 0 means there was nothing to count."""

    passed: int
    of: int


class ModelReport(Record):
    """A cell's quality, computed. `pct` is the mean of its row pcts, unrounded."""

    dim_scores: dict[str, int]
    dim_means: dict[str, float]
    pct: float | None
    rubric_level: RubricLevel | None
    safety_passed: bool | None
    safety_reason: list[SafetyReason]
    red_flags: list[str]
    checks: Tally


class Counts(Record):
    """Samples of a cell by outcome; pass, fail and error count rows, as does below_line.

    `below_line` is over the rows that have a score, and null where none has one.
    """

    planned: int
    answered: int
    judged: int
    rows: int
    passed: int
    failed: int
    error: int
    unscored: int
    empty: int
    reasoning_only: int
    truncated: int
    below_line: int | None


class Ratio(Record):
    """A share with its counts; null value where the denominator is 0."""

    value: float | None
    hits: int
    of: int


class LabelReport(Record):
    """Agreement with the labels; precision, recall and F1 are those of the positive class."""

    accuracy: Ratio
    precision: Ratio
    recall: Ratio
    f1: float | None


class Usage(Record):
    """What the cell cost. Token sums are null unless every answer was counted by the engine."""

    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    judge_calls: int
    judge_tokens: int | None
    judge_s: float | None


class Cell(Record):
    """One model under one variant."""

    model: str
    variant: str
    quant: str | None
    quant_origin: str | None
    answer_tokens_med: float | None
    answer_chars_med: float | None
    perf: CellPerf
    quality: ModelReport | None
    counts: Counts
    labels: LabelReport | None
    usage: Usage


class CheckScore(Record):
    """A check's outcome on one repeat."""

    status: CheckStatus
    score: float | None


@dataclass(**COMPACT)
class Repeat(CompactRecord):
    """One repeat of a row, reduced to what is counted. `verdict` is null until judged."""

    repeat: int
    status: ResponseStatus | None
    """Null where nothing came back yet."""
    verdict: VerdictStatus | None
    reason: str | None
    scores: dict[str, int]
    red_flag: bool | None
    checks: dict[str, CheckScore]
    label: str | None
    answer_sha256: str | None
    answer_chars: int | None
    prompt_tokens: int | None
    completion_tokens: int | None
    listed: dict[str, CheckScore] = Field(default={})
    """Checks that are listed only (`latency`); `checks` holds those that count."""
    detail: str | None = None
    """Why there is no answer or no verdict, in the engine's or the parser's words."""


@dataclass(**COMPACT)
class Row(CompactRecord):
    """(model, variant, prompt) with its repeats: the unit a baseline compares."""

    model: str
    variant: str
    prompt: str
    category: str
    state: RowState | None
    """Null until judged."""
    pct: float | None
    below_line: bool | None
    """Null without a score."""
    repeats: list[Repeat]

    @property
    def key(self) -> tuple[str, str, str]:
        """(model, variant, prompt)."""
        return (self.model, self.variant, self.prompt)


class CaseHashes(Record):
    """A case's two hashes."""

    input_sha256: str
    rubric_sha256: str


class ResultDoc(Record):
    """The whole document. Cells and rows stand in the order of the plan."""

    schema_version: Literal[1] = 1
    run: RunInfo
    hashes: Hashes
    instrument: Instrument
    rules: Rules
    provenance: Provenance
    judge: JudgeInfo | None
    cells: list[Cell]
    rows: list[Row]
    variants: dict[str, VariantText]
    cases: dict[str, CaseHashes]
