"""The machine under a whole run, through the real command line: a Mac made of recorded outputs on PATH."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer, Script
from tests.kit.cli import Done, start, touchstone
from tests.kit.fake_macos import FakeMac
from tests.kit.scratch import ScratchRepo
from touchstone.files import read_jsonl
from touchstone.host.tick import read_ticks

DEADLINE_S = 30.0
GONE_S = 3.0
SPAN_S = 0.8
"""Longer than a window's tolerance, so that a neighbouring answer cannot see it."""


@pytest.fixture
def mac(tmp_path: Path) -> FakeMac:
    return FakeMac(tmp_path / "mac")


def env(mac: FakeMac) -> dict[str, str]:
    return {"PATH": mac.path()}


def measured(repo: ScratchRepo, mac: FakeMac, *args: str) -> Done:
    done = touchstone(repo.path, "measure", "--pack", "desk", *args, env=env(mac))
    assert done.code == 0, done.out + done.err
    return done


def the_run(repo: ScratchRepo) -> Path:
    (run,) = desk.run_ids(repo)
    return repo.path / "runs" / run


def by_sample(run: Path) -> dict[str, dict[str, Any]]:
    return {record["prompt"]: record for _, record in read_jsonl(run / "resources_by_sample.jsonl")}


def perf_of(run: Path) -> dict[str, Any]:
    perf: dict[str, Any] = json.loads((run / "result.json").read_text())["cells"][0]["perf"]
    return perf


def machine_rows(run: Path) -> str:
    return (run / "report.md").read_text().partition("## Machine meanwhile\n")[2]


def wait_until(holds: Callable[[], bool], what: str, seconds: float = DEADLINE_S) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"still not: {what}"
        time.sleep(0.02)


def test_a_whole_run_on_a_mac_carries_memory_pressure_heat_and_power(repo: ScratchRepo, mac: FakeMac) -> None:
    mac.show("sysctl", "sysctl-named-m2max-battery-warn.txt")
    mac.heat("Moderate")
    done = measured(repo, mac)
    run = the_run(repo)
    samples = by_sample(run)
    assert set(samples) == {"A1", "A2", "A3", "A4", "A5"}
    for sample in samples.values():
        assert (sample["pressure"], sample["thermal"], sample["power"]) == ("warn", "moderate", "ac")
        assert sample["sys_used_mb"] > 0
        assert sample["sys_used_baseline_mb"] > 0
        assert (sample["throttled"], sample["on_battery"], sample["slept"]) == (True, False, False)
    perf = perf_of(run)
    assert (perf["pressure"], perf["thermal"], perf["power"]) == ("warn", "moderate", "ac")
    assert perf["peak_ram_gb"] > 0
    assert perf["model_delta_gb"] is not None
    assert (perf["left_out"], perf["unfit"], perf["e2e_med"]) == (5, 4, None)
    assert "| warn | moderate | ac |" in machine_rows(run)
    assert "5 of 5 answers are left out of the timing medians (1 cold start, 4 while" in " ".join(
        done.out.split()
    )
    result = json.loads((run / "result.json").read_text())
    assert result["provenance"]["chip"] == "Apple M2 Max"
    assert result["cells"][0]["quality"]["pct"] == 80, "quality is not touched by a hot machine"
    assert "kept awake" in done.err


def test_without_its_commands_the_same_fields_are_null_and_the_report_says_so(
    repo: ScratchRepo, mac: FakeMac
) -> None:
    mac.remove()
    done = measured(repo, mac)
    run = the_run(repo)
    for sample in by_sample(run).values():
        assert (sample["pressure"], sample["thermal"], sample["power"]) == (None, None, None)
        assert (sample["throttled"], sample["on_battery"]) == (None, None)
    perf = perf_of(run)
    assert (perf["pressure"], perf["thermal"], perf["power"]) == (None, None, None)
    assert (perf["left_out"], perf["unfit"]) == (1, 0), "what cannot be read spoils nothing"
    assert perf["e2e_med"] is not None
    assert "| n/a | n/a | n/a |" in machine_rows(run)
    assert "Not measured on this machine, shown as n/a: memory pressure" in done.err


def test_without_a_sampler_everything_is_null(repo: ScratchRepo, mac: FakeMac) -> None:
    settings = repo.path / "touchstone.yaml"
    settings.write_text(settings.read_text() + "host: {sampler: false}\n")
    measured(repo, mac)
    run = the_run(repo)
    assert not (run / "resources.jsonl").exists()
    perf = perf_of(run)
    assert (perf["peak_ram_gb"], perf["model_delta_gb"], perf["power"]) == (None, None, None)
    assert "| n/a | n/a | n/a | n/a | n/a |" in machine_rows(run)


class Unplugging(desk.Mind):
    """While it is asked for A3, the Mac is taken off the mains and put back on."""

    def __init__(self, mac: FakeMac, runs: Path) -> None:
        super().__init__()
        self._mac, self._runs, self._asked_three = mac, runs, 0

    def __call__(self, body: dict[str, Any]) -> Script:
        if body["messages"][-1]["content"] == "three?":
            self._asked_three += 1
            if self._asked_three == 2:  # the first time is the preflight: it is the longest prompt
                self._unplug_for_a_while()
        return super().__call__(body)

    def _unplug_for_a_while(self) -> None:
        time.sleep(SPAN_S)
        self._mac.unplug()
        wait_until(lambda: self._power() == "battery", "unplugged")
        self._mac.plug_in()
        wait_until(lambda: self._power() == "ac", "plugged in again")
        time.sleep(SPAN_S)

    def _power(self) -> str | None:
        (ticks,) = self._runs.glob("*/resources.jsonl")
        return read_ticks(ticks)[-1].power


def test_unplugging_mid_run_flags_just_the_answer_of_that_time_and_leaves_it_out(
    tmp_path: Path, mac: FakeMac
) -> None:
    mind = Unplugging(mac, tmp_path / "project" / "runs")
    with ChatServer(mind, models=(desk.MODEL, desk.JUDGE)) as server:
        repo = desk.project(tmp_path / "project", server.base_url)
        settings = repo.path / "touchstone.yaml"
        settings.write_text(settings.read_text() + "host: {power_every_s: 0.5}\n")
        done = measured(repo, mac)
    run = the_run(repo)
    flagged = [prompt for prompt, sample in by_sample(run).items() if sample["on_battery"]]
    assert flagged == ["A3"]
    perf = perf_of(run)
    assert (perf["left_out"], perf["unfit"], perf["power"]) == (2, 1, "battery")
    assert perf["ttft_p95"] < 2 * SPAN_S, "the slow answer has no part in it"
    sentence = "2 of 5 answers are left out of the timing medians (1 cold start, 1 while"
    assert sentence in " ".join(done.out.split())
    assert sentence in (run / "report.md").read_text()


def test_a_suspend_of_half_a_minute_nulls_its_window_and_no_other(
    repo: ScratchRepo, server: ChatServer, mac: FakeMac
) -> None:
    server.service_s = 1.2  # at two ticks a second the stretch around the sleep stays inside the answer
    measured(repo, mac)
    run = the_run(repo)
    asleep = fall_asleep(run, "A3")
    assert touchstone(repo.path, "judge", "--bundle", run.name, env=env(mac)).code == 0
    samples = by_sample(run)
    assert [prompt for prompt, sample in samples.items() if sample["slept"]] == ["A3"]
    assert asleep > 25
    assert [samples["A3"][name] for name in ("sys_used_mb", "pressure", "thermal", "power")] == [None] * 4
    assert samples["A2"]["power"] == "ac"
    perf = perf_of(run)
    assert (perf["left_out"], perf["unfit"]) == (2, 1)
    assert perf["ttft_p95"] < 25


def fall_asleep(run: Path, prompt: str, seconds: float = 30.0) -> float:
    """Rewrite a run as if the machine had slept while one prompt was answered; returns that answer's time.

    Everything from the middle of the answer on comes later by the wall clock, and the monotonic clock,
    which stands still in sleep, does not show it.
    """
    path = run / "responses.jsonl"
    responses = [record for _, record in read_jsonl(path)]
    (hit,) = (record for record in responses if record["prompt"] == prompt)
    middle = (hit["t_start"] + hit["t_end"]) / 2
    for record in responses:
        for name in ("t_start", "t_end"):
            record[name] += seconds if record[name] > middle else 0
    for name in ("ttft_s", "e2e_s"):
        hit[name] += seconds
    path.write_text("".join(json.dumps(record) + "\n" for record in responses))
    ticks = [record for _, record in read_jsonl(run / "resources.jsonl")]
    for tick in ticks:
        tick["ts"] += seconds if tick["ts"] > middle else 0
    (run / "resources.jsonl").write_text("".join(json.dumps(tick) + "\n" for tick in ticks))
    return float(hit["t_end"] - hit["t_start"])


def is_gone(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_killed_run_leaves_no_process_behind(repo: ScratchRepo, server: ChatServer, mac: FakeMac) -> None:
    server.service_s = 60
    run = start(repo.path, ["measure", "--pack", "desk", "-q"], env=env(mac))
    wait_until(lambda: bool(server.chats), "asking")
    started = psutil.Process(run.pid).children(recursive=True)
    names = " ".join(" ".join(process.cmdline()) for process in started)
    assert all(name in names for name in ("touchstone.host.ticker", "powermetrics", "caffeinate"))
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    wait_until(lambda: all(map(is_gone, started)), "all processes gone", GONE_S)
