from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit import builders
from touchstone.engine.reply import ChatRequest, Reply
from touchstone.errors import BadInputError
from touchstone.pack.schema import Sampling
from touchstone.run.bundle import Bundle
from touchstone.run.preflight import (
    BLOCKS_NAME,
    Block,
    append_block,
    longest_sample,
    observed,
    preflight,
    read_blocks,
    seed_test,
)
from touchstone.run.records import EngineInfo

SUITE = builders.checks_suite(
    ["A1", "A2"], variants={"none": None, "house": "Be brief, be kind."}, inputs={"A2": "Why is that so?"}
)


def block(**fields: object) -> Block:
    usual = {
        "model": "m",
        "preflight": {
            "prompt": "A2", "variant": "house", "status": "ok", "error": None, "e2e_s": 1.0,
            "served_model": None, "system_fingerprint": None,
        },
        "engine": EngineInfo(),
        "quant": None,
        "served_model": None,
        "context_length": None,
    }  # fmt: skip
    return Block.model_validate(usual | fields)


def test_the_longest_prompt_is_asked_under_the_longest_system_prompt() -> None:
    sample = longest_sample(builders.manifest(SUITE), "m")
    assert (sample.variant, sample.prompt) == ("house", "A2")


@pytest.mark.parametrize("status", ["ok", "empty", "reasoning_only", "error"])
def test_what_came_back_is_kept_and_never_raised(status: str) -> None:
    def ask(_request: ChatRequest) -> Reply:
        return Reply(status=status, text="", error_class="no_such_model" if status == "error" else None)  # type: ignore[arg-type]

    found = preflight(builders.manifest(SUITE), "m", ask)
    assert found.status == status
    assert (found.error is None) == (status != "error")


def test_seeds_are_tested_only_where_repeats_rest_on_them() -> None:
    calm = builders.manifest(builders.checks_suite(["A1"], repeats=3))
    asked: list[ChatRequest] = []

    def honest(request: ChatRequest) -> Reply:
        asked.append(request)
        return Reply(status="ok", text=f"seed {request.seed}")

    assert seed_test(calm, "m", honest) is None
    assert asked == []
    warm = builders.manifest(builders.checks_suite(["A1"], repeats=3, sampling=Sampling(temperature=0.8)))
    assert seed_test(warm, "m", honest) == "honoured"
    assert seed_test(warm, "m", lambda _: Reply(status="ok", text="always")) == "ignored"
    assert seed_test(warm, "m", lambda _: Reply(status="error", text="")) is None


def test_blocks_read_back_and_the_last_of_a_model_counts(tmp_path: Path) -> None:
    bundle = Bundle.create(tmp_path, builders.manifest(SUITE))
    append_block(bundle, block(quant="Q4"))
    append_block(bundle, block(quant="Q8"))
    assert read_blocks(bundle.path)["m"].quant == "Q8"
    (bundle.path / BLOCKS_NAME).write_text('{"model": 1}\n{}\n')
    with pytest.raises(BadInputError, match=r"blocks\.jsonl:1"):
        read_blocks(bundle.path)


def test_what_is_told_later_fills_what_was_unknown_and_overrides_nothing_told() -> None:
    started = builders.manifest(
        SUITE,
        engine={"engine": "mlx-lm", "origins": {"engine": "mlx-lm:/health"}},
        models=[{"id": "m", "quant": "config says", "quant_origin": "config"}],
    )
    later = EngineInfo(
        engine="other",
        engine_version="0.32",
        origins={"engine": "other:/x", "engine_version": "mlx-lm:fingerprint", "quant_by_model": "other:/y"},
    )
    seen = observed(started, {"m": block(engine=later, quant="4bit", served_model="file")})
    assert (seen.engine.engine, seen.engine.engine_version) == ("mlx-lm", "0.32")
    assert seen.engine.origins == {
        "engine": "mlx-lm:/health",
        "engine_version": "mlx-lm:fingerprint",
        "quant_by_model": "other:/y",
    }
    assert (seen.models[0].quant, seen.models[0].quant_origin) == ("4bit", "probe")
    assert seen.models[0].served_model == "file"
    assert observed(started, {}) is started
