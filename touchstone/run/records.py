"""What the asking leaves behind: one response per line, one frozen manifest per bundle."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from pydantic import Field
from pydantic.dataclasses import dataclass

from touchstone.engine.reply import ErrorClass, ReplyStatus
from touchstone.files import sha256_of
from touchstone.pack.suite import Suite
from touchstone.records import COMPACT, CompactRecord, Record, fields_of

MANIFEST_SCHEMA = 1

ResponseStatus = ReplyStatus


class SampleKey(NamedTuple):
    """One coordinate of a run; also the resume key. `repeat` counts from 1, `draw` from 0."""

    model: str
    variant: str
    prompt: str
    repeat: int
    draw: int

    def __str__(self) -> str:
        return f"{self.model} · {self.variant} · {self.prompt} · repeat {self.repeat} · draw {self.draw}"


class ResponseError(Record):
    """Why there is no usable answer."""

    class_: ErrorClass = Field(alias="class")
    message: str


@dataclass(**COMPACT, kw_only=True)
class ResponseFacts(CompactRecord):
    """What came back for one sample, but for its text. Times are seconds, rates tokens per second, null
    if not measured.

    `t_start` and `t_end` are seconds since the epoch. Counts are the engine's own, never estimated.
    """

    model: str
    variant: str
    prompt: str
    repeat: int
    draw: int
    category: str
    finish_reason: str | None = None
    status: ResponseStatus
    error: ResponseError | None = None
    ttft_s: float | None = None
    e2e_s: float | None = None
    decode_tps: float | None = None
    prefill_tps: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_chars: int = 0
    seed: int | None = None
    is_cold_start: bool = False
    attempts: int = 1
    t_start: float | None = None
    t_end: float | None = None
    served_model: str | None = None
    system_fingerprint: str | None = None
    notes: list[str] = Field(default=[])
    """Codes of what the wire did oddly, e.g. `no_done`, `surrogates_repaired`."""

    @property
    def key(self) -> SampleKey:
        """The sample this answers."""
        return SampleKey(self.model, self.variant, self.prompt, self.repeat, self.draw)

    @property
    def is_good(self) -> bool:
        """Whether the engine answered at all; an error is asked again on resume."""
        return self.status != "error"


@dataclass(**COMPACT, kw_only=True)
class EvalResponse(ResponseFacts):
    """What came back for one sample: a line of `responses.jsonl`."""

    response_text: str

    @property
    def text_sha256(self) -> str:
        """Hash of the text."""
        return sha256_of(self.response_text)

    @property
    def text_chars(self) -> int:
        """The text's length in characters."""
        return len(self.response_text)

    def outline(self) -> Outline:
        """The response without its text."""
        kept = {name: getattr(self, name) for name in fields_of(ResponseFacts)}
        return Outline.trusted(**kept, text_sha256=self.text_sha256, text_chars=self.text_chars)


@dataclass(**COMPACT, kw_only=True)
class Outline(ResponseFacts):
    """A response whose text was let go: the texts are most of what a large run holds."""

    text_sha256: str
    text_chars: int


AnyResponse = EvalResponse | Outline


class ModelUnderTest(Record):
    """One configured model and what is known of its weights."""

    id: str
    was: str | None = None
    quant: str | None = None
    quant_origin: str | None = None
    """`probe`, `config` or null."""
    served_model: str | None = None
    context_length: int | None = None
    extra_body: dict[str, Any] = {}


class GitState(Record):
    """Where the tree stood. Each field is null where git could not tell."""

    commit: str | None
    clean: bool | None


class HostInfo(Record):
    """The machine, detected and never configured."""

    chip: str | None
    ram_gb: float | None
    os: str | None
    python: str | None


class EngineInfo(Record):
    """What the engine said about itself; `origins` names the source of each field that is not null."""

    engine: str | None = None
    engine_version: str | None = None
    runtime: str | None = None
    origins: dict[str, str] = {}


class JudgeSetup(Record):
    """The judge the bundle was started with; the endpoint is asked for again at judging time."""

    model: str
    temperature: float
    seed: int | None
    samples: int
    max_tokens: int | None
    max_consecutive_failures: int


class Manifest(Record):
    """Frozen when a bundle starts; resuming rests on it. `digest` covers everything else."""

    schema_version: Literal[1] = 1
    id: str
    started: str
    tool_version: str
    tenant: str
    target: str | None
    draw: int
    pack_path: str
    pack_text: str
    suite: Suite
    models: list[ModelUnderTest]
    judge: JudgeSetup | None
    engine: EngineInfo
    git: GitState
    host: HostInfo
    launch: str | None
    """(pid, start time) of the engine's process where it could be seen."""
    concurrency: int
    filter: str | None
    """The `--only` and `--limit` of the run; null for the whole pack."""
    shard: str | None
    """Which share of the prompts this run asks, as `2/3`; null for all of them."""
    merged_from: list[str] = []
    """The runs that were this run's shards, the first one first; empty where it was asked as one."""
    from_baseline: str | None = None
    self_tests: dict[str, str] = {}
    models_left_out: list[str] = []
    """Names, former ones included, of configured models that `--model` left out."""
    rejudged_from: str | None = None
    """The run (its id) or baseline (its digest) whose stored answers these are; null: they were asked."""
    plan: list[tuple[str, int]]
    """(prompt id, repeats) in the order of asking, filters applied."""
    digest: str
