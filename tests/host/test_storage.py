"""Where runs are kept, and the clocks."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from touchstone.host.clock import clock_look
from touchstone.host.storage import storage_of


def test_a_folder_that_is_not_there_yet_is_judged_by_the_one_it_would_be_made_in(tmp_path: Path) -> None:
    seen = storage_of(tmp_path / "runs" / "deeper")
    assert seen.folder == tmp_path
    assert seen.is_writable
    assert seen.free_bytes is not None
    assert 0 < seen.free_bytes < 2**60
    assert list(tmp_path.iterdir()) == []


def test_this_machines_disk_and_clock_agree(tmp_path: Path) -> None:
    ahead = storage_of(tmp_path).clock_ahead_s
    assert ahead is not None
    assert abs(ahead) < 0.5


@pytest.mark.parametrize("off_s", [100.0, -100.0])
def test_a_disk_with_another_clock_is_seen(tmp_path: Path, off_s: float) -> None:
    ahead = storage_of(tmp_path, clock=lambda: time.time() - off_s).clock_ahead_s
    assert ahead == pytest.approx(off_s, abs=0.5)


def test_a_folder_that_cannot_be_written_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o555)
    # Root may write in any folder, except where the system itself takes no files.
    closed = Path("/proc/self") if os.geteuid() == 0 else tmp_path / "closed"
    seen = storage_of(closed / "runs")
    assert (seen.is_writable, seen.clock_ahead_s) == (False, None)


def test_the_clocks_of_a_sound_machine_move_together() -> None:
    look = clock_look()
    assert abs(look.parted_s) < 0.1
    assert look.behind_s == 0


def test_a_clock_that_is_set_or_stands_in_the_past_is_seen() -> None:
    began = time.monotonic()
    jumping = clock_look(wall=lambda: time.time() + (60 if time.monotonic() - began > 0.1 else 0))
    assert jumping.parted_s == pytest.approx(60, abs=0.1)
    assert clock_look(wall=lambda: 86_400.0).behind_s > 10 * 365 * 86_400
