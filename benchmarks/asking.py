"""What the asking costs beyond the model's own time: `touchstone measure` on a server that keeps time."""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from benchmarks import engine
from benchmarks.engine import Engine
from benchmarks.figure import Cost, Effort, Row, environment, scratch, times, touchstone, written
from benchmarks.project import write_project

CPU_TARGET_MS = 1.2
MEMORY_TARGET_MB = 200
RESUME_TARGET_S = 2.0
ESTIMATE_TARGET = 0.2


class Point(NamedTuple):
    """A service time and a concurrency; `target` is that of first to last call ÷ floor."""

    service_ms: int
    concurrency: int
    prompts: int
    target: float | None = None


POINTS = (
    Point(20, 1, 50),
    Point(20, 8, 200, 1.15),
    Point(20, 32, 200),
    Point(200, 1, 10),
    Point(200, 8, 200, 1.02),
    Point(200, 32, 200),
)


def floors(effort: Effort) -> Iterator[Row]:
    """First to last call ÷ floor, streaming, answers and verdicts."""
    with engine.running() as server:
        for point in POINTS:
            found = [_over_floor(server, point) for _ in range(effort.tries)]
            answers, verdicts, both = (statistics.median(part) for part in zip(*found, strict=True))
            more = _over_floor(server, point._replace(prompts=10 * point.prompts)) if effort.tenfold else None
            yield Row(
                f"first to last call ÷ floor: {point.prompts} answers and verdicts, "
                f"{point.service_ms} ms, C = {point.concurrency}",
                f"≤ {point.target:g}" if point.target else "",
                f"{both:.3f} (answers {answers:.3f}, verdicts {verdicts:.3f})",
                f"{more[2]:.3f}" if more else "",
                both <= point.target if point.target else None,
            )


def cpu(effort: Effort) -> Iterator[Row]:
    """Own CPU per request at no latency."""
    small, large, huge = 200, 1_200, 12_000
    with engine.running() as server:
        server.serve_in(0)
        few = [_asked(server, small, judged=True) for _ in range(effort.tries)]
        many = [_asked(server, large, judged=True) for _ in range(effort.tries)]
        more = _asked(server, huge, judged=True) if effort.tenfold else None
    for name, number, target in (("answer", 0, CPU_TARGET_MS), ("verdict", 1, None)):
        of_few = statistics.median(costs[number].cpu_s for costs in few)
        of_many = statistics.median(costs[number].cpu_s for costs in many)
        own_ms = 1000 * (of_many - of_few) / (large - small)
        tenfold = f"{1000 * (more[number].cpu_s - of_few) / (huge - small):.2f} ms" if more else ""
        yield Row(
            f"own CPU per {name} at 0 ms, {engine.CHUNKS} chunks",
            f"≤ {target:g} ms" if target else "",
            f"{own_ms:.2f} ms",
            tenfold,
            own_ms <= target if target else None,
        )


def memory(effort: Effort) -> Iterator[Row]:
    """Most memory of eval and judge by the number of responses; the pack is the same."""
    prompts = 200
    with engine.running() as server:
        server.serve_in(0)
        repeats = (5, *([50] if effort.tenfold else []))
        found = {n: _asked(server, prompts, judged=True, repeats=n) for n in repeats}
    for number, name in enumerate(("eval", "judge")):
        peaks = [found[n][number].peak_mb for n in repeats]
        yield Row(
            f"most memory of {name}, {prompts * repeats[0]:,} responses",
            "",
            f"{peaks[0]:.0f} MB",
            f"{peaks[1]:.0f} MB" if effort.tenfold else "",
        )


def resume(effort: Effort) -> Iterator[Row]:
    """A bundle of 100,000 lines, one of them open: the time before the first request, and memory."""
    found: dict[int, list[tuple[float, Cost]]] = {}
    with engine.running() as server:
        server.serve_in(0)
        sizes = {1_000: 1, 10_000: effort.tries, 100_000: min(effort.tries, 3)}
        for lines, tries in sizes.items():
            with scratch() as folder:
                write_project(server, folder, 1_000, repeats=lines // 1_000)
                written("bundle", folder)
                found[lines] = [_resumed(server, folder) for _ in range(tries)]
    before = {lines: statistics.median(seconds for seconds, _ in tries) for lines, tries in found.items()}
    peak = {lines: max(cost.peak_mb for _, cost in tries) for lines, tries in found.items()}
    whole = {lines: statistics.median(cost.cpu_s for _, cost in tries) for lines, tries in found.items()}
    yield Row(
        "resume of a 10,000-line bundle, start to first request; 10×: 100,000 lines",
        f"< {RESUME_TARGET_S:g} s at 100,000",
        f"{before[10_000]:.2f} s",
        f"{before[100_000]:.2f} s",
        before[100_000] < RESUME_TARGET_S,
    )
    yield Row(
        "most memory of that resume, its result written; 10×: 100,000 responses",
        f"< {MEMORY_TARGET_MB} MB at 100,000",
        f"{peak[10_000]:.0f} MB (1,000: {peak[1_000]:.0f} MB)",
        f"{peak[100_000]:.0f} MB",
        peak[100_000] < MEMORY_TARGET_MB,
    )
    yield Row(
        "CPU of that resume from start to end",
        "≤ 11 × at 10 ×",
        f"{whole[10_000]:.2f} s",
        f"{whole[100_000]:.2f} s ({times(whole[100_000], whole[10_000])})",
        whole[100_000] <= 11 * whole[10_000],
    )


def switches(_: Effort) -> Iterator[Row]:
    """How often the server has to load a model for three models and a judge, nothing suspect."""
    with engine.running() as server, scratch() as folder:
        server.serve_in(0)
        write_project(server, folder, 20, models=("m", "m2", "m3"), judged=True)
        server.log()
        touchstone(folder, "measure", "-q")
        loads = [model for model, _ in groupby(one.model for one in server.log())]
    yield Row("model loads for 3 models and the judge", "4", str(len(loads)), met=len(loads) == 4)


def estimate(effort: Effort) -> Iterator[Row]:
    """The time left as a log is told it when some ten samples are in, beside what it then took.

    Service times vary by half either way.
    """
    errors = []
    with engine.running() as server:
        for _ in range(min(effort.tries, 3)):
            with scratch() as folder:
                write_project(server, folder, 40)
                server.serve_in(500, spread=0.5)
                errors.append(_estimate_error(folder))
    worst = max(errors, key=abs)
    yield Row(
        "time left told after ten samples of 40 ÷ what it took, worst of the runs",
        f"within {ESTIMATE_TARGET:.0%}",
        f"{worst:+.0%}",
        met=abs(worst) <= ESTIMATE_TARGET,
    )


def reuse(_: Effort) -> Iterator[Row]:
    """Verdicts asked of the judge on a change that touches one of two variants."""
    with engine.running() as server, scratch() as folder:
        server.serve_in(0)
        write_project(server, folder, 50, judged=True, variants=2)
        touchstone(folder, "measure", "-q")
        settings = folder / "packs/bench.yaml"
        settings.write_text(settings.read_text().replace("Variant 1.", "Variant 1, changed."))
        touchstone(folder, "eval", "-q")
        old, new = sorted(path.name for path in (folder / "runs").iterdir() if path.is_dir())
        # The scripted model says the same under every prompt; one variant's answers are made to differ.
        lines = folder / "runs" / new / "responses.jsonl"
        changed = [
            line.replace("lamp", "lantern") if '"variant":"v1"' in line else line
            for line in lines.read_text().splitlines(keepends=True)
        ]
        lines.write_text("".join(changed))
        server.log()
        touchstone(folder, "judge", "--bundle", new, "-q", "--reuse-verdicts", old)
        reused = sum(one.model == "judge" for one in server.log())
        (folder / "runs" / new / "judgements.jsonl").unlink()
        touchstone(folder, "judge", "--bundle", new, "-q")
        whole = sum(one.model == "judge" for one in server.log())
    yield Row(
        "judge calls on a change of one of two variants, 50 prompts, verdicts reused",
        "half",
        f"{reused} of {whole}",
        met=reused <= 0.55 * whole,
    )


def _over_floor(server: Engine, point: Point) -> tuple[float, float, float]:
    """Answers, verdicts, and both: the two spans ÷ the two floors."""
    with scratch() as folder:
        write_project(server, folder, point.prompts, judged=True, concurrency=point.concurrency)
        server.serve_in(point.service_ms)
        server.log()
        touchstone(folder, "measure", "-q")
    parts = engine.answer_spans(server.log(), point.prompts)
    spans = [max(one.ended for one in part) - min(one.began for one in part) for part in parts]
    floor = [sum(one.ended - one.began for one in part) / point.concurrency for part in parts]
    return spans[0] / floor[0], spans[1] / floor[1], sum(spans) / sum(floor)


def _asked(server: Engine, prompts: int, *, judged: bool, repeats: int = 1) -> tuple[Cost, Cost]:
    """What eval costs, and judge."""
    with scratch() as folder:
        write_project(server, folder, prompts, judged=judged, repeats=repeats)
        asked = touchstone(folder, "eval", "-q")
        return asked, touchstone(folder, "judge", "--bundle", "latest", "-q")


def _resumed(server: Engine, folder: Path) -> tuple[float, Cost]:
    """Seconds from the start of the process to its first chat request, and the whole cost."""
    run = next(path for path in (folder / "runs").iterdir() if path.is_dir())
    lines = run / "responses.jsonl"
    kept = folder / "responses.kept"
    if not kept.exists():
        shutil.copy(lines, kept)
    shutil.copy(kept, lines)
    server.log()
    cost = touchstone(folder, "eval", "--resume", run.name, "-q")
    return server.log()[0].began - cost.began, cost


def _estimate_error(folder: Path) -> float:
    """How far the first estimate is off; the run is followed line by line."""
    command = [sys.executable, "-m", "touchstone", "eval"]
    running = subprocess.Popen(
        command,
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stderr is not None
    told_s = at = end = 0.0
    for line in running.stderr:
        found = re.search(r"(\d+) s left", line)
        if found and not told_s:
            told_s, at = float(found[1]), time.monotonic()
        if "asking 40/40" in line:
            end = time.monotonic()
    running.wait()
    return told_s / (end - at) - 1
