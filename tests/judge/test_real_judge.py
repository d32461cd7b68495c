"""The embedded engine as a judge: the plumbing works on a real server, and the model is found unfit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.judge.scenes import bundle_of, judged_suite
from tests.kit.engine import cache_with_model
from touchstone.config import Endpoint
from touchstone.demo import engine as embedded
from touchstone.engine.client import ChatClient
from touchstone.errors import ExitCode, NotJudgedError
from touchstone.files import read_jsonl
from touchstone.judge.phase import judge_bundle
from touchstone.judge.prompt import PROMPT_VERSION
from touchstone.judge.records import JudgeIdentity
from touchstone.judge.self_test import schema_works
from touchstone.pack.schema import CalibrationItem

pytestmark = pytest.mark.engine

MODEL = "smollm2-135m-instruct"
ITEMS = [
    CalibrationItem(
        id=f"cal-{word}-{number}", prompt=prompt, answer=answer, expect={"Q1": band}, red_flag=False
    )
    for number, (prompt, right, wrong) in enumerate(
        [
            ("What is the capital of France?", "Paris.", "Berlin, a kind of cheese."),
            ("What is 2 + 2?", "The sum is 4.", "The sum is 7."),
            ("Name a colour of the rainbow.", "Green.", "Tuesday."),
            ("How many days has a week?", "Seven.", "Two hundred."),
        ]
    )
    for word, answer, band in (("good", right, [4, 5]), ("bad", wrong, [1, 2]))
]
"""Enough of them: a model that scores by chance can pass two."""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChatClient]:
    cache = cache_with_model(tmp_path_factory.mktemp("engine"))
    try:
        with ChatClient(Endpoint(base_url=embedded.start(cache, lambda _: None).base_url)) as found:
            yield found
    finally:
        embedded.stop(cache)


def test_a_real_engine_holds_the_model_to_the_schema(client: ChatClient) -> None:
    assert schema_works(client.ask, MODEL)


@pytest.mark.parametrize("use_schema", [True, False])
def test_the_embedded_model_is_not_calibrated(client: ChatClient, tmp_path: Path, use_schema: bool) -> None:
    suite = judged_suite(calibration=ITEMS, judge={"model": MODEL})
    setup = {"model": MODEL, "temperature": 0.0, "seed": 42, "samples": 1}
    limits = {"max_tokens": 128, "max_consecutive_failures": 3}
    bundle = bundle_of(tmp_path, suite, judge={**setup, **limits})
    identity = JudgeIdentity(model=MODEL, version=None, prompt_version=PROMPT_VERSION)
    with pytest.raises(NotJudgedError, match=r"judge is not calibrated: .* cal-") as caught:
        judge_bundle(bundle, client.ask, identity=identity, use_schema=use_schema)
    assert caught.value.exit_code is ExitCode.NOT_JUDGED
    assert not bundle.judgements_path.exists()
    assert len(bundle.responses()) == 3
    kept = [value for _, value in read_jsonl(bundle.path / "calibration.jsonl")]
    assert kept[-1]["status"] == ("judged" if use_schema else "error")
