"""What comparing, promoting and looking back cost, by the number of rows and of promotions."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks import engine
from benchmarks.figure import Cost, Effort, Row, environment, process, scratch, times, touchstone, written
from benchmarks.project import write_project

COMPARE_TARGET_S = 1.0
COMPARE_TARGET_MB = 200
CHILD = """
import contextlib, io, json, resource, sys, time
from touchstone.cli import boundary
from touchstone.gate import held

decide, spent = held.decide, []

def timed(*sides, **told):
    began = time.process_time()
    found = decide(*sides, **told)
    spent.append(time.process_time() - began)
    return found

held.decide = timed
with contextlib.redirect_stdout(io.StringIO()):
    code = boundary.run(["compare", "baselines/default/pack.json", "latest"])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({
    "code": code,
    "compare_s": sum(spent),
    "whole_s": time.process_time(),
    "peak_mb": peak / (1 << 20 if sys.platform == "darwin" else 1 << 10),
}))
"""


class Compared(NamedTuple):
    """One `touchstone compare`: CPU seconds of the comparison and of the whole command; the most memory."""

    compare_s: float
    whole_s: float
    peak_mb: float


def compare(effort: Effort) -> Iterator[Row]:
    """A run beside a baseline of three runs."""
    sizes = [200, 2_000, 10_000, *([20_000] if effort.tenfold else [])]
    found = {rows: _compared(rows, 1 if rows == 20_000 else effort.tries) for rows in sizes}
    tenfold = {200: 2_000, 2_000: 20_000}
    for rows in (200, 2_000, 10_000):
        cost, more, is_due = found[rows], found.get(tenfold.get(rows, 0)), rows == 10_000
        yield Row(
            f"compare, {rows:,} rows × 3 baseline runs, CPU and most memory of the process",
            f"< {COMPARE_TARGET_S:g} s, < {COMPARE_TARGET_MB} MB" if is_due else "",
            f"{cost.compare_s:.2f} s (whole command {cost.whole_s:.2f} s), {cost.peak_mb:.0f} MB",
            f"{more.compare_s:.2f} s (whole {more.whole_s:.2f} s), {more.peak_mb:.0f} MB" if more else "",
            cost.compare_s < COMPARE_TARGET_S and cost.peak_mb < COMPARE_TARGET_MB if is_due else None,
        )


def promote(effort: Effort) -> Iterator[Row]:
    """`promote --here` of three runs."""
    found = {rows: _promoted(rows, tries) for rows, tries in ((200, 1), (2_000, min(effort.tries, 3)))}
    cost, less = found[2_000], found[200]
    yield Row(
        "promote, 200 rows × 3 runs, CPU; 10×: 2,000 rows",
        "≤ 11 × at 10 ×",
        f"{less.cpu_s:.2f} s, {less.peak_mb:.0f} MB",
        f"{cost.cpu_s:.2f} s, {cost.peak_mb:.0f} MB ({times(cost.cpu_s, less.cpu_s)})",
        cost.cpu_s <= 11 * less.cpu_s,
    )


def history(effort: Effort) -> Iterator[Row]:
    """`history` over promotions of a baseline of twelve rows."""
    found = {count: _looked_back(count, effort.tries) for count in (20, 200)}
    yield Row(
        "history over 20 promotions of 12 rows, CPU; 10×: 200",
        "≤ 11 × at 10 ×",
        f"{found[20]:.2f} s",
        f"{found[200]:.2f} s ({times(found[200], found[20])})",
        found[200] <= 11 * found[20],
    )


def _compared(rows: int, tries: int) -> Compared:
    with scratch() as folder:
        written("baseline_and_run", folder, rows)
        found = [_compared_once(folder) for _ in range(tries)]
    return Compared(*(statistics.median(part) for part in zip(*found, strict=True)))


def _compared_once(folder: Path) -> Compared:
    run = subprocess.run(
        [sys.executable, "-c", CHILD],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(run.stdout)
    if found.pop("code") != 0:
        raise SystemExit(f"touchstone compare failed: {run.stderr}")
    return Compared(**found)


def _promoted(rows: int, tries: int) -> Cost:
    costs = []
    with engine.running() as server, scratch() as folder:
        server.serve_in(0)
        write_project(server, folder, rows)
        (folder / ".gitignore").write_text("runs/\n")
        for command in (["git", "init", "-q"], ["git", "add", "-A"], ["git", "commit", "-qm", "base"]):
            process(command, folder)
        touchstone(folder, "measure", "--times", "3", "-q")
        runs = sorted(path.name for path in (folder / "runs").iterdir() if path.is_dir())
        for _ in range(tries):
            costs.append(touchstone(folder, "promote", *runs, "--here"))
            process(["git", "reset", "-q", "--hard", "HEAD~1"], folder)
    return sorted(costs, key=lambda cost: cost.cpu_s)[len(costs) // 2]


def _looked_back(count: int, tries: int) -> float:
    with scratch() as folder:
        written("promotions", folder, count)
        command = [sys.executable, "-m", "touchstone", "history", "pack"]
        return statistics.median(process(command, folder).cpu_s for _ in range(tries))
