"""What the sampler costs while a run goes on: its share of one core, and its memory.

    python benchmarks/sampler_cost.py [SECONDS]

Measured from the first tick on, so without the start of Python. The second line drives the Mac's path
with the fake commands of the tests: "with commands" then includes small shell scripts in place of the real
sysctl and pmset, and leaves out powermetrics, which runs as long as the run and belongs to root.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.kit.fake_macos import FakeMac
from touchstone.host.sampler import start_sampler

TARGET_PCT = 1.0


def main() -> int:
    """Print the table; 1 when the sampler itself is over its target."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    head = f"sampler, {seconds:g} s"
    print(f"{head:<22} own % of a core   with commands %   memory MB   target: own < {TARGET_PCT:g} %")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shares = [report("linux", folder / "linux.jsonl", seconds)]
        os.environ["PATH"] = FakeMac(folder / "mac").path()
        shares.append(report("darwin", folder / "mac.jsonl", seconds))
    return int(max(shares) >= TARGET_PCT)


def report(system: str, path: Path, seconds: float) -> float:
    """Run the sampler for a while; its own share of one core in per cent."""
    with start_sampler(path, system):
        ticker = next(
            child for child in psutil.Process().children() if "touchstone.host.ticker" in child.cmdline()
        )
        before, began = ticker.cpu_times(), time.monotonic()
        time.sleep(seconds)
        after, took = ticker.cpu_times(), time.monotonic() - began
        memory_mb = ticker.memory_info().rss / 2**20
    own = after.user + after.system - before.user - before.system
    commands = after.children_user + after.children_system - before.children_user - before.children_system
    own_pct, all_pct = 100 * own / took, 100 * (own + commands) / took
    print(f"{system:<22} {own_pct:>15.2f} {all_pct:>17.2f} {memory_mb:>11.0f}")
    return own_pct


if __name__ == "__main__":
    sys.exit(main())
