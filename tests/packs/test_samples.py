"""Every check of every shipped pack passes a sample answer and fails another.

A sample file holds, for each prompt with checks, one answer that passes all of them and for each check one
that fails it; for a labelled pack also answers and the class that is read from them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from touchstone.judge.checks import Answer, run_check, run_label
from touchstone.pack.load import load_pack
from touchstone.pack.schema import Labels, Prompt

PACKS = sorted((Path(__file__).parents[2] / "packs").glob("*.yaml"))
SAMPLES = Path(__file__).parent / "samples"


def samples_of(pack: str) -> dict[str, Any]:
    """The sample file of a pack: prompt id → {pass, fail}."""
    samples: dict[str, Any] = yaml.load((SAMPLES / f"{pack}.yaml").read_text(), Loader=yaml.CSafeLoader)
    return samples


def prompts_of(path: Path) -> dict[str, Prompt]:
    return {prompt.id: prompt for _, prompt in load_pack(path).pack.prompts()}


CHECKED = [
    pytest.param(path.stem, prompt, id=f"{path.stem}-{prompt.id}")
    for path in PACKS
    for prompt in prompts_of(path).values()
    if prompt.checks
]
LABELLED = [(path.stem, labels) for path in PACKS if (labels := load_pack(path).pack.labels)]


@pytest.mark.parametrize("path", PACKS, ids=lambda path: path.stem)
def test_a_pack_and_its_samples_name_the_same_checks(path: Path) -> None:
    expected = {
        prompt.id: {check.id for check in prompt.checks}
        for prompt in prompts_of(path).values()
        if prompt.checks
    }
    samples = samples_of(path.stem)
    samples.pop("readings", None)
    assert {prompt: set(sample["fail"]) for prompt, sample in samples.items()} == expected


@pytest.mark.parametrize(("pack", "prompt"), CHECKED)
def test_one_sample_passes_every_check_and_one_fails_each(pack: str, prompt: Prompt) -> None:
    sample = samples_of(pack)[prompt.id]
    for check in prompt.checks:
        passed = run_check(check, Answer(sample["pass"]))
        failed = run_check(check, Answer(sample["fail"][check.id]))
        assert (passed.id, passed.status) == (check.id, "pass"), passed.detail
        assert (failed.id, failed.status) == (check.id, "fail"), failed.detail


@pytest.mark.parametrize(("pack", "labels"), LABELLED, ids=[pack for pack, _ in LABELLED])
def test_the_class_is_read_from_an_answer_or_it_is_an_error(pack: str, labels: Labels) -> None:
    readings = samples_of(pack)["readings"]
    assert {reading["class"] for reading in readings} == {*labels.classes, None}
    for reading in readings:
        for expected in labels.classes:
            verdict, found = run_label(labels, expected, Answer(reading["answer"]))
            right = {expected: "pass", None: "error"}.get(reading["class"], "fail")
            assert (verdict.status, found) == (right, reading["class"]), reading["answer"]
