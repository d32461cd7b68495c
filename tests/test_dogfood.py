"""This repository's own baseline, and when the check against it decides anything."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tests.kit.scratch import scratch_repo
from touchstone.baseline import store
from touchstone.errors import ExitCode

ROOT = Path(__file__).resolve().parents[1]
BASELINE = ROOT / "baselines" / "default" / "starter.json"


@pytest.fixture(scope="module")
def dogfood() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dogfood", ROOT / ".ci" / "dogfood.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_our_baseline_holds_three_runs_of_a_clean_commit_and_verifies_itself() -> None:
    baseline = store.verify(BASELINE)
    assert len(baseline.runs) == 3
    assert all(run.clean for run in baseline.runs)
    assert len({run.launch for run in baseline.runs}) == 3


def test_the_engine_build_is_what_the_measured_commit_pins(dogfood: ModuleType, tmp_path: Path) -> None:
    repo = scratch_repo(tmp_path)
    first = repo.commit("measured", {"pyproject.toml": 'demo = ["xllamacpp==2026.1.7; x"]\n'})
    repo.commit("later", {"pyproject.toml": 'demo = ["xllamacpp==2026.2.8; x"]\n'})
    assert dogfood.pinned_build(tmp_path, first) == "2026.1.7"
    assert dogfood.pinned_build(tmp_path, "0" * 40) is None
    assert dogfood.pinned_build(tmp_path, None) is None


@pytest.mark.parametrize(
    ("here", "then", "counts"),
    [
        (("1", "chip"), ("1", "chip"), True),
        (("2", "chip"), ("1", "chip"), False),
        (("1", "other"), ("1", "chip"), False),
        ((None, "chip"), (None, "chip"), False),
        (("1", None), ("1", None), False),
    ],
)
def test_it_is_a_gate_only_on_the_baselines_system(
    dogfood: ModuleType, here: tuple[str, str], then: tuple[str, str], counts: bool
) -> None:
    assert dogfood.is_gate(dogfood.System(*here), dogfood.System(*then)) is counts


@pytest.mark.parametrize("code", ExitCode)
def test_a_verdict_that_does_not_count_fails_nothing_but_a_fault_does(
    dogfood: ModuleType, code: ExitCode
) -> None:
    assert dogfood.final_code(code, counts=True) == code
    verdict = code in {ExitCode.WORSE, ExitCode.NOT_JUDGED, ExitCode.NOT_COMPARABLE}
    assert dogfood.final_code(code, counts=False) == (ExitCode.NOTHING_WORSE if verdict else code)
