from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.kit import builders
from touchstone.errors import BadInputError
from touchstone.run.bundle import Bundle
from touchstone.run.find import find_bundle, list_bundles

IDS = ("20260504T080000Z_pack_aaaaaa", "20260504T090000Z_pack_bbbbbb", "20260505T080000Z_other_cccccc")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    for run in reversed(IDS):
        Bundle.create(folder, builders.manifest(builders.checks_suite(), id=run))
    (folder / "not-a-run").mkdir()
    return folder


@pytest.mark.parametrize(
    ("name", "found"),
    [("latest", IDS[2]), (IDS[1], IDS[1]), ("20260505", IDS[2]), (f"runs/{IDS[0]}", IDS[0]),
     (f"runs/{IDS[0]}/manifest.json", IDS[0])],
)  # fmt: skip
def test_a_run_is_named_by_path_id_prefix_or_latest(runs: Path, name: str, found: str) -> None:
    assert find_bundle(name, runs, runs.parent).id == found


def test_an_ambiguous_prefix_names_the_runs(runs: Path) -> None:
    with pytest.raises(BadInputError, match="2 runs begin like that") as caught:
        find_bundle("20260504", runs, runs.parent)
    assert caught.value.hint == f"Name one of: {IDS[0]}, {IDS[1]}"


def test_an_unknown_run_says_what_there_is(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no such run") as caught:
        find_bundle("nothing", runs, runs.parent)
    assert caught.value.hint is not None
    assert IDS[2] in caught.value.hint
    with pytest.raises(BadInputError, match="no run in"):
        find_bundle("latest", tmp_path / "none", tmp_path)


def test_bundles_are_listed_oldest_first(runs: Path) -> None:
    assert [bundle.id for bundle in list_bundles(runs)] == list(IDS)


def test_of_runs_of_one_second_the_one_begun_last_is_the_latest(tmp_path: Path) -> None:
    begun = [f"20260504T080000Z_pack_{end}" for end in ("ffffff", "aaaaaa", "cccccc")]
    for number, run in enumerate(begun):
        bundle = Bundle.create(tmp_path, builders.manifest(builders.checks_suite(), id=run))
        os.utime(bundle.path / "manifest.json", ns=(number, number))
    assert [bundle.id for bundle in list_bundles(tmp_path)] == begun
    assert find_bundle("latest", tmp_path, tmp_path).id == begun[-1]
