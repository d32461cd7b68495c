"""How long a comparison takes, and how much memory, by the number of rows.

    python benchmarks/compare_speed.py [ROWS …]

A project with a baseline of three runs and a fourth run is written to a temporary folder, and `touchstone
compare` reads and compares them in a process of its own. Seconds are CPU seconds: of the comparison alone,
and of the whole command. Memory is the most the process held at any time, interpreter and imports included.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.kit import builders
from tests.kit.measured import kept, measured
from touchstone.baseline.store import dump
from touchstone.files import json_line, json_pretty
from touchstone.run.bundle import Bundle

ROOT = Path(__file__).resolve().parents[1]
TARGET_ROWS = 10_000
TARGET_S = 1.0
TARGET_MB = 200
DIMENSIONS = {f"Q{number}": 1.0 for number in range(1, 7)}
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


class Cost(NamedTuple):
    """Of one comparison."""

    compare_s: float
    whole_s: float
    peak_mb: float


def main() -> int:
    """Print the table; 1 when ten thousand rows miss a target."""
    sizes = [int(size) for size in sys.argv[1:]] or [1_000, TARGET_ROWS]
    print(f"{'rows':>8} {'compare s':>10} {'whole command s':>16} {'peak MB':>8}")
    costs = {rows: report(rows) for rows in sizes}
    print(f"target at {TARGET_ROWS:,} rows: compare < {TARGET_S:g} s, peak < {TARGET_MB} MB")
    cost = costs.get(TARGET_ROWS)
    if cost is None or (cost.compare_s < TARGET_S and cost.peak_mb < TARGET_MB):
        return 0
    print("over the target")
    return 1


def report(rows: int) -> Cost:
    """One line of the table."""
    with tempfile.TemporaryDirectory() as name:
        # Written by another process: a child's peak begins with what its parent held.
        subprocess.run([sys.executable, __file__, "--write", name, str(rows)], check=True)
        run = subprocess.run(
            [sys.executable, "-c", CHILD],
            cwd=name,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
    found = json.loads(run.stdout)
    if found.pop("code") != 0:
        raise SystemExit(f"touchstone compare failed: {run.stderr}")
    cost = Cost(**found)
    print(f"{rows:>8} {cost.compare_s:>10.2f} {cost.whole_s:>16.2f} {cost.peak_mb:>8.0f}")
    return cost


def write_project(folder: Path, rows: int) -> None:
    """Three unchanged runs as a baseline, and a fourth as a run."""
    rng = random.Random(1)
    prompts = [f"P{number:06}" for number in range(rows)]
    suite = builders.judged_suite(prompts, dimensions=DIMENSIONS)
    tables = [
        {prompt: [min(5, max(1, round(rng.gauss(4, 0.5)))) for _ in DIMENSIONS] for prompt in prompts}
        for _ in range(4)
    ]
    runs = [measured(suite, table, number, salt=str(number)) for number, table in enumerate(tables)]
    baselines = folder / "baselines" / "default"
    baselines.mkdir(parents=True)
    (baselines / "pack.json").write_text(dump(kept(runs[:3])), "utf-8")
    bundle = Bundle.create(folder / "runs", runs[3].manifest)
    bundle.result_path.write_text(json_pretty(runs[3].result.to_json()), "utf-8")
    with bundle.responses_path.open("w", encoding="utf-8") as lines:
        lines.writelines(json_line(response.to_json()) + "\n" for response in runs[3].responses.values())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write_project(Path(sys.argv[2]), int(sys.argv[3]))
        sys.exit()
    sys.exit(main())
