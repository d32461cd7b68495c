"""What the benchmarks need on disk, written by a process of its own: a child's peak of memory begins with
what its parent held.

    python -m benchmarks.writing PROGRAM FOLDER [ROWS]
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.figure import environment
from tests.kit import builders
from tests.kit.measured import kept, measured
from touchstone.baseline.store import dump
from touchstone.config import CONFIG_NAME, load_config
from touchstone.files import json_line, json_pretty
from touchstone.gate.bench import Bench
from touchstone.gate.start import Order, start_run
from touchstone.pack.load import load_pack
from touchstone.run.bundle import Bundle

DIMENSIONS = {f"Q{number}": 1.0 for number in range(1, 7)}


def baseline_and_run(folder: Path, rows: int) -> None:
    """Three unchanged runs as a baseline, and a fourth as a run."""
    runs = _runs(rows, 4)
    baselines = folder / "baselines" / "default"
    baselines.mkdir(parents=True)
    (baselines / "pack.json").write_text(dump(kept(runs[:3])), "utf-8")
    bundle = Bundle.create(folder / "runs", runs[3].manifest)
    bundle.result_path.write_text(json_pretty(runs[3].result.to_json()), "utf-8")
    with bundle.responses_path.open("w", encoding="utf-8") as lines:
        lines.writelines(json_line(response.to_json()) + "\n" for response in runs[3].responses.values())


def promotions(folder: Path, count: int) -> None:
    """So many commits of one baseline of twelve rows, each for another reason."""
    runs = _runs(12, 3)
    file = folder / "baselines/default/pack.json"
    file.parent.mkdir(parents=True)
    _git(folder, "init", "-q")
    for number in range(count):
        file.write_text(dump(kept(runs, reason=f"reason {number}")), "utf-8")
        _git(folder, "add", "-A")
        _git(folder, "commit", "-q", "-m", f"promotion {number}")


def bundle(folder: Path) -> None:
    """A run of the folder's pack with every answer but the last."""
    os.chdir(folder)
    effective = load_config(folder / CONFIG_NAME)
    bench = Bench(
        config=effective.config,
        root=folder,
        config_path=effective.path,
        environ={},
        now=lambda: datetime.now(UTC),
    )
    run = start_run(bench, Order(load_pack(folder / "packs/bench.yaml")))
    with run.responses_path.open("w", encoding="utf-8") as lines:
        for key in run.samples()[:-1]:
            lines.write(json_line(builders.response(key, "The lamp is green.").to_json()) + "\n")


def _runs(rows: int, count: int) -> list[Any]:
    rng = random.Random(1)
    prompts = [f"P{number:06}" for number in range(rows)]
    suite = builders.judged_suite(prompts, dimensions=DIMENSIONS)
    tables = [
        {prompt: [min(5, max(1, round(rng.gauss(4, 0.5)))) for _ in DIMENSIONS] for prompt in prompts}
        for _ in range(count)
    ]
    return [measured(suite, table, number, salt=str(number)) for number, table in enumerate(tables)]


def _git(folder: Path, *args: str) -> None:
    subprocess.run(["git", *args], cwd=folder, env=environment(folder), check=True)


PROGRAMS: dict[str, Callable[..., None]] = {
    "baseline_and_run": baseline_and_run,
    "promotions": promotions,
    "bundle": bundle,
}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](Path(sys.argv[2]), *map(int, sys.argv[3:]))
