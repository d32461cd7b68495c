"""What a benchmark is made of: rows of one table, and processes whose cost is taken."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TRIES = 5


@dataclass(frozen=True)
class Effort:
    """How much is measured: medians of `tries`; `tenfold` adds the figure for ten times the work."""

    tries: int = TRIES
    tenfold: bool = True


@dataclass(frozen=True)
class Row:
    """One line of the table. `met` is None where there is no target."""

    figure: str
    target: str
    measured: str
    tenfold: str = ""
    met: bool | None = None

    def markdown(self) -> str:
        """The line in Markdown."""
        verdict = {True: "yes", False: "**no**", None: "–"}[self.met]
        return (
            f"| {self.figure} | {self.target or '–'} | {self.measured} | {self.tenfold or '–'} | {verdict} |"
        )


Figure = Callable[[Effort], Iterator[Row]]


@dataclass(frozen=True)
class Cost:
    """Of one process: seconds by the clock and of CPU, and the most memory it held at any time, in MB."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    began: float
    """Seconds since the epoch."""


def touchstone(folder: Path, *args: str) -> Cost:
    """What one call of the command line costs; SystemExit where it does not end with 0."""
    return process([sys.executable, "-m", "touchstone", *args], folder)


def process(command: Sequence[str], folder: Path) -> Cost:
    """What one process costs."""
    with tempfile.TemporaryFile() as said:
        began, at = time.perf_counter(), time.time()
        # Small by design: a child's peak begins with what its parent held.
        running = subprocess.Popen(
            command, cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )
        _, status, used = os.wait4(running.pid, 0)
        wall_s = time.perf_counter() - began
        running.returncode = os.waitstatus_to_exitcode(status)
        if running.returncode != 0:
            said.seek(0)
            raise SystemExit(f"{' '.join(command)} ended with {running.returncode}:\n{said.read().decode()}")
    peak_mb = used.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    return Cost(wall_s, used.ru_utime + used.ru_stime, peak_mb, at)


def written(program: str, folder: Path, *args: object) -> None:
    """Have another process write into a folder: `program` is a function of `benchmarks.writing`."""
    command = [sys.executable, "-m", "benchmarks.writing", program, str(folder), *map(str, args)]
    subprocess.run(command, cwd=ROOT, env=environment(folder), check=True)


def environment(folder: Path) -> dict[str, str]:
    """Nothing of the developer's; compiled modules are used."""
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "bench",
        "GIT_AUTHOR_EMAIL": "bench@localhost",
        "GIT_COMMITTER_NAME": "bench",
        "GIT_COMMITTER_EMAIL": "bench@localhost",
    }


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="touchstone-bench-") as name:
        yield Path(name)


def ratio_to_bare(command: Sequence[str], folder: Path, tries: int) -> tuple[float, float]:
    """CPU and clock time of a command ÷ those of a bare interpreter, measured in turn: medians."""
    bare, own = [], []
    for _ in range(tries):
        bare.append(process([sys.executable, "-c", "pass"], folder))
        own.append(process(command, folder))
    cpu = statistics.median(cost.cpu_s for cost in own) / statistics.median(cost.cpu_s for cost in bare)
    wall = statistics.median(cost.wall_s for cost in own) / statistics.median(cost.wall_s for cost in bare)
    return cpu, wall


def cpu_seconds(work: Callable[[], object], tries: int) -> float:
    """The median CPU seconds of a call in this process."""
    times = []
    for _ in range(tries):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return statistics.median(times)


def times(more: float, less: float) -> str:
    """What ten times the work costs, as a factor."""
    return f"× {more / less:.1f}" if less else ""
