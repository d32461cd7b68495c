"""What moves which hash, and that nothing else does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kit.golden import golden
from touchstone.config import CompareSettings
from touchstone.files import json_pretty
from touchstone.pack.digest import case_hashes, checks_of, hashes_of, suite_of
from touchstone.pack.load import LoadedPack, load_pack
from touchstone.pack.suite import JudgeInstrument, Suite

CASES = Path(__file__).parent.parent / "cases" / "packs"

JUDGE = JudgeInstrument(
    model="judge-27b", temperature=0.0, seed=42, samples=1, prompt_version=1, prompt_sha256="sha256:00"
)
NEWER_JUDGE = JUDGE.model_copy(update={"version": "b1"})
PACK = """schema: 1
id: demo
version: 1
title: Demo
scale: {1: poor, 2: fair, 3: good}
dimensions:
  - {id: Q1, name: Right, weight: 2, about: Is it right?, threshold: 2, tolerance: 1}
  - {id: Q2, name: Kind, weight: 1}
ko_rule: {dimension: Q1, threshold: 1}
prompt_variants:
  - {id: none}
  - {id: house, system_prompt: Be kind.}
sampling: {temperature: 0.0}
labels: {classes: [a, b], positive: a, extract: {regex: "(a|b)"}}
calibration: [{id: c1, prompt: p, answer: x, expect: {Q1: [2, 3]}}]
categories:
  - id: A
    name: Greetings
    prompts:
      - id: greet
        title: A greeting
        prompt: Say hello.
        tests: Greets
        green_flags: [warm]
        red_flags: [cold]
        label: a
        tags: [smoke]
        checks: [{type: contains, value: hello}, {type: latency, e2e_max_s: 5}]
"""


def test_the_golden_hashes_stay() -> None:
    """These stand in every committed baseline: if this fails, every baseline becomes incomparable."""
    suite = _suite(load_pack(CASES / "good" / "checks-only.yaml"))
    case = suite.cases["greet"]
    hashes = hashes_of(suite).to_json() | {"input": case.input_sha256, "rubric": case.rubric_sha256}
    text = json_pretty(hashes)
    assert text == golden("pack-hashes.json", text)


def test_the_same_pack_laid_out_otherwise_has_the_same_hashes(tmp_path: Path) -> None:
    first = _hashes(_pack(tmp_path, PACK))
    flow = PACK.replace(
        "  - {id: Q2, name: Kind, weight: 1}", "  - id: Q2\n    weight: 1.0 # half\n    name: 'Kind'"
    )
    assert _hashes(_pack(tmp_path, flow.replace("\n", "\r\n"))) == first


MOVES: dict[str, tuple[str, str, set[str]]] = {
    "pack title": ("title: Demo", "title: Renamed", {"pack"}),
    "pack version": ("version: 1", "version: 2", {"pack"}),
    "prompt title": ("title: A greeting", "title: Hi", {"pack"}),
    "tags": ("tags: [smoke]", "tags: [slow]", {"pack"}),
    "category name": ("name: Greetings", "name: Hellos", {"pack"}),
    "variant text": ("system_prompt: Be kind.", "system_prompt: Be brief.", set()),
    "language": ("title: Demo", "title: Demo\nlanguage: de", set()),
    "threshold": ("threshold: 2,", "threshold: 3,", {"pack", "rules", "config"}),
    "tolerance": ("tolerance: 1}", "tolerance: 2}", {"pack", "rules", "config"}),
    "knock-out": ("ko_rule: {dimension: Q1, threshold: 1}", "", {"pack", "rules", "config"}),
    "check threshold": ("value: hello}", "value: hello, threshold: 0.5}", {"pack", "rules", "config"}),
    "weight": ("weight: 2,", "weight: 3,", {"pack", "instrument", "config"}),
    "about": ("about: Is it right?", "about: Is it so?", {"pack", "instrument", "config"}),
    "dimension name": ("name: Right", "name: Correct", {"pack", "instrument", "config"}),
    "scale text": ("3: good", "3: great", {"pack", "instrument", "config"}),
    "sampling": ("temperature: 0.0", "temperature: 0.5", {"pack", "instrument", "config"}),
    "label extraction": ('"(a|b)"', '"(a|b)$"', {"pack", "instrument", "config"}),
    "calibration": ("Q1: [2, 3]", "Q1: [3, 3]", {"pack", "instrument", "config"}),
    "prompt text": ("prompt: Say hello.", "prompt: Say hi.", {"pack", "input"}),
    "tests": ("tests: Greets", "tests: Is warm", {"pack", "rubric"}),
    "green flag": ("green_flags: [warm]", "green_flags: []", {"pack", "rubric"}),
    "label": ("label: a", "label: b", {"pack", "rubric"}),
    "check value": ("value: hello", "value: hallo", {"pack", "rubric"}),
    "check weight": ("value: hello}", "value: hello, weight: 2}", {"pack", "rubric"}),
    "repeats": ("label: a", "label: a\n        repeats: 2", {"pack", "rubric"}),
    "cap": ("label: a", "label: a\n        max_tokens: 9", {"pack", "rubric"}),
    "safety-critical": ("label: a", "label: a\n        safety_critical: true", {"pack", "rubric"}),
}


@pytest.mark.parametrize(("before", "after", "moved"), list(MOVES.values()), ids=list(MOVES))
def test_each_change_moves_its_hashes_and_no_other(
    tmp_path: Path, before: str, after: str, moved: set[str]
) -> None:
    assert before in PACK
    old, new = _hashes(_pack(tmp_path, PACK)), _hashes(_pack(tmp_path, PACK.replace(before, after, 1)))
    assert {name for name in old if old[name] != new[name]} == moved


SETTINGS: dict[str, tuple[Callable[[LoadedPack], Suite], set[str]]] = {
    "compare": (lambda pack: _suite(pack, compare=CompareSettings(min_drop=3.0)), {"rules", "config"}),
    "judge": (lambda pack: _suite(pack, judge=NEWER_JUDGE), {"instrument", "config"}),
    "no judge": (lambda pack: _suite(pack, judge=None), {"instrument", "config"}),
    "extra body": (lambda pack: _suite(pack, extra_body={"m": {"top_k": 1}}), {"instrument", "config"}),
    "empty extra body": (lambda pack: _suite(pack, extra_body={"m": {}}), set()),
}


@pytest.mark.parametrize(("build", "moved"), SETTINGS.values(), ids=SETTINGS)
def test_settings_move_their_hashes(
    tmp_path: Path, build: Callable[[LoadedPack], Suite], moved: set[str]
) -> None:
    loaded = _pack(tmp_path, PACK)
    old, new = hashes_of(_suite(loaded)).to_json(), hashes_of(build(loaded)).to_json()
    assert {name for name in old if old[name] != new[name]} == moved


def test_asking_for_every_dimension_by_name_is_asking_for_all(tmp_path: Path) -> None:
    named = _pack(tmp_path, PACK.replace("label: a", "label: a\n        dimensions: [Q2, Q1]"))
    assert (
        _suite(named).cases["greet"].rubric_sha256
        == _suite(_pack(tmp_path, PACK)).cases["greet"].rubric_sha256
    )
    assert _suite(named).cases["greet"].rubric.dimensions == ["Q1", "Q2"]


def test_Y20_trailing_spaces_make_another_prompt() -> None:
    spaced, stripped = _input("Y20a-trailing-spaces"), _input("Y20b-stripped")
    assert spaced != stripped


def test_Y21_line_endings_of_the_file_do_not() -> None:
    assert _input("Y21a-lf") == _input("Y21b-crlf")
    lf, crlf = (_suite(load_pack(CASES / "good" / f"{name}.yaml")) for name in ("Y21a-lf", "Y21b-crlf"))
    assert hashes_of(lf) == hashes_of(crlf)


def test_a_prompt_files_line_endings_do_not_either(tmp_path: Path) -> None:
    text = PACK.replace("system_prompt: Be kind.", "system_prompt_file: ../house.md")
    texts = []
    for content in (b"Be kind.\n", b"Be kind.\r\n", b"\xef\xbb\xbfBe kind.\n"):
        (tmp_path / "house.md").write_bytes(content)
        texts.append(_suite(_pack(tmp_path, text)).variants["house"])
    assert texts[0] == texts[1] == texts[2]


def test_case_hashes_are_those_of_the_suite(tmp_path: Path) -> None:
    case = _suite(_pack(tmp_path, PACK)).cases["greet"]
    assert case_hashes(case.input, case.rubric) == (case.input_sha256, case.rubric_sha256)


def test_a_suite_survives_json(tmp_path: Path) -> None:
    suite = _suite(_pack(tmp_path, PACK))
    again = Suite.model_validate(json.loads(json.dumps(suite.to_json())))
    assert again == suite
    assert hashes_of(again) == hashes_of(suite)
    assert list(again.cases) == list(suite.cases)


def test_a_pack_without_dimensions_has_no_knock_out_rule(tmp_path: Path) -> None:
    assert _suite(load_pack(CASES / "good" / "checks-only.yaml")).rules.ko_rule is None
    bare = _suite(_pack(tmp_path, PACK.replace("ko_rule: {dimension: Q1, threshold: 1}", "")))
    assert bare.rules.ko_rule is not None
    assert bare.rules.ko_rule.red_flag_scope == "all"


def test_checks_come_back_from_rubric_and_rules() -> None:
    loaded = load_pack(CASES / "good" / "checks-only.yaml")
    suite = _suite(loaded)
    ((_, prompt),) = loaded.pack.prompts()
    assert checks_of(suite, "greet") == prompt.checks


def test_checks_follow_the_rules_they_are_read_under(tmp_path: Path) -> None:
    suite = _suite(_pack(tmp_path, PACK))
    line = suite.rules.checks["greet/contains"].model_copy(update={"threshold": 0.5, "tolerance": 0.25})
    rules = suite.rules.model_copy(update={"checks": {"greet/contains": line}})
    contains, latency = checks_of(suite.model_copy(update={"rules": rules}), "greet")
    assert (contains.threshold, contains.tolerance) == (0.5, 0.25)
    assert (latency.id, latency.threshold, latency.tolerance) == ("latency", 1.0, 0.0)


def test_the_label_is_not_among_the_checks(tmp_path: Path) -> None:
    assert [check.type for check in checks_of(_suite(_pack(tmp_path, PACK)), "greet")] == [
        "contains",
        "latency",
    ]


def _suite(loaded: LoadedPack, **changes: Any) -> Suite:
    settings: dict[str, Any] = {"compare": CompareSettings(), "judge": JUDGE, "extra_body": {}}
    return suite_of(loaded, **(settings | changes))


def _hashes(loaded: LoadedPack) -> dict[str, str]:
    suite = _suite(loaded)
    case = suite.cases["greet"]
    return hashes_of(suite).to_json() | {"input": case.input_sha256, "rubric": case.rubric_sha256}


def _input(name: str) -> str:
    return _suite(load_pack(CASES / "good" / f"{name}.yaml")).cases["greet"].input_sha256


def _pack(folder: Path, text: str) -> LoadedPack:
    path = folder / "packs" / "pack.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    return load_pack(path)
