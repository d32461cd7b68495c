"""Preflight: each model's longest prompt is asked once before its block, so a long run does not find out
late that the model answers nothing. What the engine tells once the model is loaded is kept with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from touchstone.engine.reply import Ask, Reply
from touchstone.errors import BadInputError
from touchstone.files import JsonlAppender, read_jsonl
from touchstone.records import Record
from touchstone.run import plan
from touchstone.run.bundle import Bundle, sealed
from touchstone.run.records import (
    EngineInfo,
    Manifest,
    ModelUnderTest,
    ResponseError,
    ResponseStatus,
    SampleKey,
)
from touchstone.run.runner import request_of

BLOCKS_NAME = "blocks.jsonl"

_OF_THE_ENGINE = ("engine", "engine_version", "runtime")

SeedTest = Literal["honoured", "ignored"]


class Preflight(Record):
    """How a model answered its longest prompt."""

    prompt: str
    variant: str
    status: ResponseStatus
    error: ResponseError | None
    e2e_s: float | None
    served_model: str | None
    system_fingerprint: str | None


class Block(Record):
    """What was seen when a model's block began; one line of `blocks.jsonl`.

    `seed` says whether other seeds gave other answers and the same seed the same; null where it was not
    looked at (temperature 0, no repeats) or could not be seen.
    """

    model: str
    preflight: Preflight
    engine: EngineInfo
    quant: str | None
    served_model: str | None
    context_length: int | None
    seed: SeedTest | None = None


def preflight(manifest: Manifest, model: str, ask: Ask) -> Preflight:
    """Ask a model its longest prompt, under the most generous cap any of its prompts has."""
    sample = longest_sample(manifest, model)
    request = replace(request_of(manifest, sample), max_tokens=_largest_cap(manifest))
    return _preflight(sample, ask(request))


def longest_sample(manifest: Manifest, model: str) -> SampleKey:
    """The planned sample of a model with the most text to read."""
    suite = manifest.suite

    def length(sample: SampleKey) -> int:
        return len(suite.variants[sample.variant].text or "") + len(suite.cases[sample.prompt].input)

    return max((sample for sample in plan.samples(manifest) if sample.model == model), key=length)


def seed_test(manifest: Manifest, model: str, ask: Ask) -> SeedTest | None:
    """Whether seeds do what they say: asked only where repeats rest on it (temperature above 0)."""
    sampling = manifest.suite.instrument.sampling
    if sampling.temperature == 0 or sampling.seed is None or not _has_copies(manifest):
        return None
    request = replace(request_of(manifest, longest_sample(manifest, model)), max_tokens=24)
    first, same, other = (
        ask(replace(request, seed=seed, temperature=max(sampling.temperature, 1.0)))
        for seed in (sampling.seed, sampling.seed, sampling.seed + 1)
    )
    if "error" in {first.status, same.status, other.status} or not first.text:
        return None
    return "honoured" if first.text == same.text and first.text != other.text else "ignored"


def append_block(bundle: Bundle, block: Block) -> None:
    """Keep what was seen; a resumed run adds another line."""
    with JsonlAppender(bundle.path / BLOCKS_NAME) as lines:
        lines.append(block.to_json())


def read_blocks(folder: Path) -> dict[str, Block]:
    """The last block of each model."""
    path = folder / BLOCKS_NAME
    blocks: dict[str, Block] = {}
    for number, value in read_jsonl(path):
        try:
            block = Block.model_validate(value)
        except ValidationError:
            raise BadInputError(f"{path}:{number}: not a block record") from None
        blocks[block.model] = block
    return blocks


def observed(manifest: Manifest, blocks: Mapping[str, Block]) -> Manifest:
    """The manifest with what the engine told only once its models were loaded.

    What it told at the start stands; a quantisation from the settings gives way to the engine's own.
    """
    if not blocks:
        return manifest
    fields = {key: value for key, value in manifest if key != "digest"}
    return sealed(
        fields
        | {
            "engine": _engine(manifest.engine, [block.engine for block in blocks.values()]),
            "models": [_model(model, blocks.get(model.id)) for model in manifest.models],
        }
    )


def _preflight(sample: SampleKey, reply: Reply) -> Preflight:
    error = None
    if reply.status == "error":
        error = ResponseError(class_=reply.error_class or "transport", message=reply.error_message or "")
    return Preflight(
        prompt=sample.prompt,
        variant=sample.variant,
        status=reply.status,
        error=error,
        e2e_s=reply.e2e_s,
        served_model=reply.served_model,
        system_fingerprint=reply.system_fingerprint,
    )


def _largest_cap(manifest: Manifest) -> int | None:
    usual = manifest.suite.instrument.sampling.max_tokens
    caps = [manifest.suite.cases[prompt].rubric.max_tokens or usual for prompt, _ in manifest.plan]
    known = [cap for cap in caps if cap is not None]
    return max(known) if len(known) == len(caps) else None


def _has_copies(manifest: Manifest) -> bool:
    return manifest.draw > 0 or any(repeats > 1 for _, repeats in manifest.plan)


def _engine(started: EngineInfo, later: Sequence[EngineInfo]) -> EngineInfo:
    told: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for info in (started, *later):
        news = {name: getattr(info, name) for name in _OF_THE_ENGINE if name not in told}
        told |= {name: value for name, value in news.items() if value is not None}
        for name, place in info.origins.items():
            if name not in _OF_THE_ENGINE or news.get(name) is not None:
                origins.setdefault(name, place)
    return EngineInfo(**told, origins=origins)


def _model(model: ModelUnderTest, block: Block | None) -> ModelUnderTest:
    if block is None:
        return model
    quant = {"quant": block.quant, "quant_origin": "probe"} if block.quant is not None else {}
    return model.model_copy(
        update={
            **quant,
            "served_model": model.served_model or block.served_model,
            "context_length": model.context_length or block.context_length,
        }
    )
