"""The sampler as the run sees it: real processes, real signals, a fake Mac."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil
import pytest

from tests.kit.fake_macos import FakeMac
from touchstone.files import read_jsonl
from touchstone.host.merge import Window, merge_windows
from touchstone.host.sampler import start_sampler
from touchstone.host.tick import Tick, read_ticks
from touchstone.host.ticker import TICK_S

# Processes on a loaded machine may be slow; nothing here should come near this.
DEADLINE_S = 20.0

RUN = """
import sys, time
from pathlib import Path
from touchstone.host.sampler import start_sampler
sampler = start_sampler(Path(sys.argv[1]), sys.argv[2])
print("running", flush=True)
time.sleep(600)
"""


@pytest.fixture
def ticks_file(tmp_path: Path) -> Path:
    return tmp_path / "resources.jsonl"


def wait_until(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + DEADLINE_S
    while not holds():
        assert time.monotonic() < end, f"still not: {what}"
        time.sleep(0.05)


def last_tick(path: Path) -> Tick:
    return read_ticks(path)[-1]


def has_ticks(path: Path, enough: int) -> bool:
    return len(read_ticks(path)) >= enough


def descendants(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


def ticker_of_this_process() -> psutil.Process:
    [ticker] = [child for child in psutil.Process().children() if "touchstone.host.ticker" in child.cmdline()]
    return ticker


def is_gone(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_the_first_tick_is_in_the_file_when_the_sampler_is_back(ticks_file: Path) -> None:
    with start_sampler(ticks_file, "linux"):
        [first, *_] = read_ticks(ticks_file)
        wait_until(lambda: len(read_ticks(ticks_file)) >= 4, "four ticks")
    ticks = read_ticks(ticks_file)
    assert first.start
    assert first.cpu_pct is None
    assert not any(tick.start for tick in ticks[1:])
    total_mb = psutil.virtual_memory().total / 2**20
    for tick in ticks:
        assert tick.sys_used_mb is not None
        assert tick.sys_available_mb is not None
        assert tick.sys_used_mb + tick.sys_available_mb == pytest.approx(total_mb, abs=0.2)
        assert tick.ts == pytest.approx(time.time(), abs=600)
    assert all(tick.cpu_pct is not None for tick in ticks[1:])
    assert len(ticks) <= (ticks[-1].monotonic - ticks[0].monotonic) / TICK_S + 2


def test_a_record_has_the_designed_fields(ticks_file: Path) -> None:
    with start_sampler(ticks_file, "linux"):
        pass
    [(_, record), *_] = read_jsonl(ticks_file)
    assert set(record) == {
        "ts",
        "monotonic",
        "sys_used_mb",
        "sys_available_mb",
        "swap_used_mb",
        "cpu_pct",
        "pressure",
        "thermal",
        "power",
        "start",
    }


def test_on_a_mac_pressure_heat_and_power_come_along(mac: FakeMac, ticks_file: Path) -> None:
    with start_sampler(ticks_file, power_every_s=0.5) as sampler:
        assert sampler.notes == [
            f"This Mac is kept awake while the run lasts (caffeinate -i -w {os.getpid()})."
        ]
        assert mac.said("caffeinate") == f"-i -w {os.getpid()}\n"
        first = last_tick(ticks_file)
        assert (first.pressure, first.thermal, first.power) == ("normal", "nominal", "ac")
        mac.heat("Heavy")
        mac.press(4)
        mac.unplug()
        wait_until(lambda: last_tick(ticks_file).thermal == "heavy", "hot")
        wait_until(lambda: last_tick(ticks_file).pressure == "critical", "under pressure")
        wait_until(lambda: last_tick(ticks_file).power == "battery", "unplugged")


def test_unplugging_mid_run_flags_just_the_answers_of_that_time(mac: FakeMac, ticks_file: Path) -> None:
    windows = []

    def answer(name: str) -> None:
        count = len(read_ticks(ticks_file))
        began = last_tick(ticks_file).ts + 0.6  # past the tick that showed the change
        wait_until(lambda: len(read_ticks(ticks_file)) >= count + 4, "four more ticks")
        windows.append(Window(name, began, last_tick(ticks_file).ts - 0.6))

    with start_sampler(ticks_file, power_every_s=0.5):
        answer("plugged in")
        mac.unplug()
        wait_until(lambda: last_tick(ticks_file).power == "battery", "unplugged")
        answer("on battery")
        mac.plug_in()
        wait_until(lambda: last_tick(ticks_file).power == "ac", "plugged in again")
        answer("plugged in again")
    facts = merge_windows(read_ticks(ticks_file), windows)
    assert [item.key for item in facts if item.on_battery] == ["on battery"]
    assert [item.on_battery for item in facts].count(None) == 0


def test_a_mac_without_its_commands_is_sampled_all_the_same(mac: FakeMac, ticks_file: Path) -> None:
    mac.remove()
    with start_sampler(ticks_file, "darwin") as sampler:
        absent, awake = sampler.notes
    assert absent == (
        "Not measured on this machine, shown as n/a: memory pressure, "
        "thermal level (powermetrics gave no level), power source."
    )
    assert awake.startswith("caffeinate did not start.")
    tick = read_ticks(ticks_file)[0]
    assert tick.sys_used_mb is not None
    assert (tick.pressure, tick.thermal, tick.power) == (None, None, None)


def test_a_thermal_stream_that_ends_for_good_is_no_longer_nominal(mac: FakeMac, ticks_file: Path) -> None:
    with start_sampler(ticks_file):
        assert last_tick(ticks_file).thermal == "nominal"
        mac.lose_heat()
        wait_until(lambda: last_tick(ticks_file).thermal is None, "unknown")


def test_a_resumed_run_appends(ticks_file: Path) -> None:
    for enough in (2, 4):
        with start_sampler(ticks_file, "linux"):
            wait_until(partial(has_ticks, ticks_file, enough), "one more tick")
    ticks = read_ticks(ticks_file)
    assert sum(tick.start for tick in ticks) == 2
    assert ticks == sorted(ticks, key=lambda tick: tick.monotonic)


def test_a_line_cut_by_a_crash_is_set_aside_on_resume(ticks_file: Path) -> None:
    ticks_file.write_text('{"ts":1,"monotonic":1,"start":true}\n{"ts":2,"mono')
    with start_sampler(ticks_file, "linux"):
        pass
    ticks = read_ticks(ticks_file)
    assert ticks[0] == Tick(1.0, 1.0, start=True)
    assert ticks[1].start


def test_closing_ends_every_process_and_may_be_repeated(mac: FakeMac, ticks_file: Path) -> None:
    others = set(descendants(os.getpid()))
    sampler = start_sampler(ticks_file)
    started = set(descendants(os.getpid())) - others
    names = " ".join(" ".join(process.cmdline()) for process in started)
    assert all(name in names for name in ("touchstone.host.ticker", "powermetrics", "caffeinate"))
    sampler.close()
    sampler.close()
    wait_until(lambda: all(map(is_gone, started)), "all processes gone")
    size = ticks_file.stat().st_size
    time.sleep(1.2)
    assert ticks_file.stat().st_size == size


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_run_leaves_no_process_behind(mac: FakeMac, ticks_file: Path, blow: signal.Signals) -> None:
    argv = [sys.executable, "-c", RUN, str(ticks_file), "darwin"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"running\n"
        started = descendants(run.pid)
        assert len(started) >= 3
        run.send_signal(blow)
        run.wait()
        wait_until(lambda: all(map(is_gone, started)), "all processes gone")


def test_an_interrupt_from_the_keyboard_is_the_runs_to_answer(ticks_file: Path) -> None:
    with start_sampler(ticks_file, "linux") as sampler:
        ticker = ticker_of_this_process()
        ticker.send_signal(signal.SIGINT)
        count = len(read_ticks(ticks_file))
        wait_until(lambda: len(read_ticks(ticks_file)) > count, "one more tick")
    assert len(sampler.notes) <= 1


def test_a_sampler_that_died_is_told_at_the_end(ticks_file: Path) -> None:
    with start_sampler(ticks_file, "linux") as sampler:
        ticker = ticker_of_this_process()
        ticker.kill()
        wait_until(lambda: is_gone(ticker), "ticker gone")
    assert sampler.notes[-1].startswith("The resource sampler ended before the run")


def test_a_folder_that_cannot_be_written_is_a_note_and_not_an_error(tmp_path: Path) -> None:
    with start_sampler(tmp_path / "no such folder" / "resources.jsonl", "linux") as sampler:
        pass
    reason, outcome = sampler.notes
    assert "No such file or directory" in reason
    assert "did not start" in outcome


def test_nothing_is_imported_from_the_folder_a_run_is_started_in(
    tmp_path: Path, ticks_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "psutil.py").write_text("raise SystemExit('imported from the working folder')")
    monkeypatch.chdir(tmp_path)
    with start_sampler(ticks_file, "linux"):
        assert last_tick(ticks_file).sys_used_mb is not None


def test_the_sampler_stays_small() -> None:
    seen = "import sys, touchstone.host.ticker; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", seen], stdout=subprocess.PIPE, check=True)
    assert not {b"pydantic", b"yaml", b"httpx", b"git"} & set(done.stdout.split())
