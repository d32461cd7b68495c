"""What the sampler costs while a run goes on: its share of one core, from its first tick on."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from benchmarks.figure import Effort, Row, scratch
from tests.kit.fake_macos import FakeMac
from touchstone.host.sampler import start_sampler

TARGET_PCT = 1.0
SECONDS = 15.0


def sampler(_: Effort) -> Iterator[Row]:
    """On Linux, and on the Mac's path with the tests' commands in place of the real ones.

    powermetrics, which runs as long as the run and belongs to root, is left out.
    """
    with scratch() as folder:
        for system in ("linux", "darwin"):
            before = os.environ["PATH"]
            if system == "darwin":
                os.environ["PATH"] = FakeMac(folder / "mac").path()
            try:
                own_pct, all_pct, memory_mb = _share(system, folder / f"{system}.jsonl")
            finally:
                os.environ["PATH"] = before
            yield Row(
                f"sampler on {system}, share of one core",
                f"< {TARGET_PCT:g} %",
                f"{own_pct:.2f} % (with its commands {all_pct:.2f} %, {memory_mb:.0f} MB)",
                met=own_pct < TARGET_PCT,
            )


def _share(system: str, path: Path) -> tuple[float, float, float]:
    """Its own share in per cent, that with the commands it starts, and its memory in MB."""
    with start_sampler(path, system):
        ticker = next(
            child for child in psutil.Process().children() if "touchstone.host.ticker" in child.cmdline()
        )
        before, began = ticker.cpu_times(), time.monotonic()
        time.sleep(SECONDS)
        after, took = ticker.cpu_times(), time.monotonic() - began
        memory_mb = ticker.memory_info().rss / 2**20
    own = after.user + after.system - before.user - before.system
    commands = after.children_user + after.children_system - before.children_user - before.children_system
    return 100 * own / took, 100 * (own + commands) / took, memory_mb
