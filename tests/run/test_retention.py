from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.kit import builders
from touchstone.files import write_json
from touchstone.run.bundle import Bundle
from touchstone.run.find import list_bundles
from touchstone.run.retention import KEPT_PER_PACK, Kept, remove_surplus, surplus

BUNDLES = st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), max_size=40).map(
    lambda rows: [Kept(f"{n:03}", pack, complete) for n, (pack, complete) in enumerate(rows)]
)


@given(BUNDLES, st.integers(3, 30))
def test_the_newest_and_three_complete_ones_of_each_pack_always_stay(bundles: list[Kept], keep: int) -> None:
    gone = set(surplus(bundles, keep))
    left = [bundle for bundle in bundles if bundle.id not in gone]
    assert not gone & {bundle.id for bundle in bundles[-keep:]}
    for pack in "ab":
        complete = [bundle for bundle in bundles if bundle.pack == pack and bundle.complete]
        assert set(complete[-KEPT_PER_PACK:]) <= set(left)
    assert len(left) <= keep + 2 * KEPT_PER_PACK


def test_old_runs_are_removed_and_named_and_unreadable_ones_left(tmp_path: Path) -> None:
    said: list[str] = []
    for number in range(8):
        run = f"2026050{number + 1}T080000Z_pack_00000{number}"
        bundle = Bundle.create(tmp_path, builders.manifest(builders.checks_suite(), id=run))
        write_json(bundle.path / "result.json", {"run": {"complete": number == 2}})
    (tmp_path / "20260501T080000Z_pack_000000" / "manifest.json").write_text("{}")
    remove_surplus(tmp_path, 4, said.append)
    left = [bundle.id[-6:] for bundle in list_bundles(tmp_path)]
    assert left == ["000000", "000002", "000004", "000005", "000006", "000007"]
    assert len(said) == 2
    assert "keep_runs: 4" in said[0]
    remove_surplus(tmp_path, 20, said.append)
    assert len(said) == 2


def test_neither_a_part_of_a_run_nor_a_rejudged_one_takes_the_place_of_a_whole_one(tmp_path: Path) -> None:
    kinds = [{}, {}, {}, {"filter": "only=A1"}, {"rejudged_from": "another"}, {"shard": "1/2"}, {}]
    for number, fields in enumerate(kinds):
        run = f"2026050{number + 1}T080000Z_pack_00000{number}"
        bundle = Bundle.create(tmp_path, builders.manifest(builders.checks_suite(), id=run, **fields))
        write_json(bundle.path / "result.json", {"run": {"complete": True}})
    remove_surplus(tmp_path, 3, lambda _: None)
    assert [bundle.id[-1] for bundle in list_bundles(tmp_path)] == ["1", "2", "4", "5", "6"]


def test_a_run_somebody_works_on_is_not_removed(tmp_path: Path) -> None:
    said: list[str] = []
    for number in range(5):
        run = f"2026050{number + 1}T080000Z_pack_00000{number}"
        Bundle.create(tmp_path, builders.manifest(builders.checks_suite(), id=run))
    oldest = list_bundles(tmp_path)[0]
    with oldest.lock():
        remove_surplus(tmp_path, 3, said.append)
    assert [bundle.id[-1] for bundle in list_bundles(tmp_path)] == ["0", "2", "3", "4"]
    assert "could not be removed" in said[0]
    remove_surplus(tmp_path, 3, said.append)
    assert [bundle.id[-1] for bundle in list_bundles(tmp_path)] == ["2", "3", "4"]


def test_a_run_whose_removal_was_killed_is_no_run_and_goes_with_the_next(tmp_path: Path) -> None:
    for number in range(5):
        run = f"2026050{number + 1}T080000Z_pack_00000{number}"
        Bundle.create(tmp_path, builders.manifest(builders.checks_suite(), id=run))
    half = list_bundles(tmp_path)[0].path
    half.rename(tmp_path / f".{half.name}.removed")
    assert len(list_bundles(tmp_path)) == 4
    remove_surplus(tmp_path, 3, lambda _: None)
    assert sorted(path.name[-1] for path in tmp_path.iterdir() if path.is_dir()) == ["2", "3", "4"]
