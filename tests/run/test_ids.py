"""Ids that `ls` puts in the order the runs were begun in."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from touchstone.run.ids import new_run_id

NOON = datetime(2026, 5, 4, 12, 0, 0, tzinfo=UTC)


def _begun(folder: Path, pack: str = "tone", at: datetime = NOON) -> str:
    made = new_run_id(folder, pack, at)
    (folder / made).mkdir(parents=True)
    return made


def test_runs_of_one_second_sort_in_the_order_they_were_begun_in(tmp_path: Path) -> None:
    begun = [_begun(tmp_path) for _ in range(50)]
    assert begun == sorted(begun)
    assert len(set(begun)) == 50
    assert all(re.fullmatch(r"20260504T120000Z_tone_[0-9a-f]{6}", run) for run in begun)
    assert _begun(tmp_path, at=NOON + timedelta(seconds=1)) > begun[-1]


def test_ids_of_two_machines_differ(tmp_path: Path) -> None:
    assert _begun(tmp_path / "one") != _begun(tmp_path / "other")


def test_what_is_no_run_of_this_pack_and_second_says_nothing(tmp_path: Path) -> None:
    for name in ("20260504T120000Z_tone_zzzzzz", "20260504T120000Z_tone", "20260504T120000Z_tone_ffffff.old"):
        (tmp_path / name).mkdir()
    assert re.fullmatch(r"20260504T120000Z_tone_[01][0-9a-f]{5}", new_run_id(tmp_path, "tone", NOON))


def test_where_the_ends_are_used_up_the_next_is_still_another_one(tmp_path: Path) -> None:
    (tmp_path / "20260504T120000Z_tone_fffffe").mkdir()
    assert new_run_id(tmp_path, "tone", NOON) == "20260504T120000Z_tone_ffffff"
