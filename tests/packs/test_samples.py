"""Every check of every shipped pack passes the sample answers beside it, and fails others."""

from __future__ import annotations

import pytest

from tests.packs.samples import ROOT, checked_prompts, packs, sample_file, samples_of, texts
from touchstone.judge.checks import Answer, run_check, run_label
from touchstone.pack.schema import Labels, Prompt

CHECKED = [
    pytest.param(name, prompt, id=f"{name}-{prompt.id}")
    for name, pack in packs().items()
    for prompt in checked_prompts(pack).values()
    if prompt.id in samples_of(name)
]
LABELLED = {name: pack.labels for name, pack in packs().items() if pack.labels and samples_of(name)}


@pytest.mark.parametrize("name", packs())
def test_a_pack_has_a_sample_for_each_of_its_checks(name: str) -> None:
    pack, file = packs()[name], sample_file(name).relative_to(ROOT)
    expected = {id_: {check.id for check in prompt.checks} for id_, prompt in checked_prompts(pack).items()}
    samples = {id_: set(sample["fail"]) for id_, sample in samples_of(name).items() if id_ != "readings"}
    assert samples == expected, (
        f"{file} must hold, for each prompt with checks, `pass:` (an answer that passes them all) and "
        f"`fail:` (for each check an answer that fails it); packs/samples/starter.yaml shows how"
    )
    assert not pack.labels or "readings" in samples_of(name), (
        f"{file} must hold `readings:`, answers and the class that is read from each (null where none is); "
        f"packs/samples/triage.yaml shows how"
    )


@pytest.mark.parametrize(("name", "prompt"), CHECKED)
def test_samples_pass_every_check_and_fail_each(name: str, prompt: Prompt) -> None:
    sample = samples_of(name)[prompt.id]
    for check in prompt.checks:
        for answer in texts(sample["pass"]):
            passed = run_check(check, Answer(answer))
            assert (passed.id, passed.status) == (check.id, "pass"), (answer, passed.detail)
        for answer in texts(sample["fail"].get(check.id, [])):
            failed = run_check(check, Answer(answer))
            assert (failed.id, failed.status) == (check.id, "fail"), (answer, failed.detail)


@pytest.mark.parametrize(("name", "labels"), LABELLED.items(), ids=LABELLED)
def test_the_class_is_read_from_an_answer_or_it_is_an_error(name: str, labels: Labels) -> None:
    readings = samples_of(name).get("readings", [])
    assert {reading["class"] for reading in readings} <= {*labels.classes, None}
    for reading in readings:
        for expected in labels.classes:
            verdict, found = run_label(labels, expected, Answer(reading["answer"]))
            right = {expected: "pass", None: "error"}.get(reading["class"], "fail")
            assert (verdict.status, found) == (right, reading["class"]), reading["answer"]
