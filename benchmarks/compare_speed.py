"""How long a comparison takes, and how much memory, by the number of rows.

    python benchmarks/compare_speed.py [ROWS …]

A baseline of three runs and a fourth run are written to a temporary folder; a fresh process loads both and
compares them. Seconds are CPU seconds of the comparison alone; memory is what the process holds more after
the comparison, after loading the files, and after its imports.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.kit import builders
from tests.kit.measured import kept, measured
from touchstone.baseline.store import dump
from touchstone.files import json_pretty

TARGET_S = 1.0
TARGET_MB = 200
DIMENSIONS = {f"Q{number}": 1.0 for number in range(1, 7)}
CHILD = """
import json, sys, time
from pathlib import Path
from touchstone.baseline.compare import compare
from touchstone.baseline.comparison import CandidateInfo, ReferenceInfo
from touchstone.baseline.sides import side_of_baseline, side_of_runs
from touchstone.baseline.store import load
from touchstone.result.schema import ResultDoc
import psutil
from touchstone.run.records import Manifest

def held_mb():
    return psutil.Process().memory_info().rss / (1 << 20)

bare = held_mb()
folder = Path(sys.argv[1])
old = side_of_baseline(load(folder / "baseline.json"))
result = ResultDoc.model_validate_json((folder / "result.json").read_bytes())
manifest = Manifest.model_validate_json((folder / "manifest.json").read_bytes())
new = side_of_runs([result], [manifest])
loaded = held_mb()
began = time.process_time()
found = compare(
    old, new,
    reference=ReferenceInfo(
        file="b", digest=None, day=None, commit=None, runs=3, approved_by=None, age_days=None
    ),
    candidate=CandidateInfo(run="r", commit=None, clean=None, draws=1),
)
seconds = time.process_time() - began
told = {"seconds": seconds, "bare": bare, "loaded": loaded, "held": held_mb()}
print(json.dumps(told))
"""


def main() -> int:
    """Print the table; 1 when ten thousand rows miss the target for seconds."""
    sizes = [int(size) for size in sys.argv[1:]] or [1_000, 10_000]
    print(f"{'rows':>8} {'compare s':>10} {'own MB':>8} {'files loaded MB':>16} {'imports MB':>11}")
    seconds = {rows: report(rows) for rows in sizes}
    print(f"target at 10,000 rows: < {TARGET_S:g} s, < {TARGET_MB} MB")
    return int(seconds.get(10_000, 0.0) >= TARGET_S)


def report(rows: int) -> float:
    """One line; the seconds of the comparison."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_sides(folder, rows)
        run = subprocess.run([sys.executable, "-c", CHILD, name], capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)
    own, loaded = found["held"] - found["loaded"], found["loaded"] - found["bare"]
    print(f"{rows:>8} {found['seconds']:>10.2f} {own:>8.0f} {loaded:>16.0f} {found['bare']:>11.0f}")
    return float(found["seconds"])


def write_sides(folder: Path, rows: int) -> None:
    """Three unchanged runs as a baseline, and a fourth."""
    rng = random.Random(1)
    prompts = [f"P{number:06}" for number in range(rows)]
    suite = builders.judged_suite(prompts, dimensions=DIMENSIONS)
    tables = [
        {prompt: [min(5, max(1, round(rng.gauss(4, 0.5)))) for _ in DIMENSIONS] for prompt in prompts}
        for _ in range(4)
    ]
    runs = [measured(suite, table, number, salt=str(number)) for number, table in enumerate(tables)]
    (folder / "baseline.json").write_text(dump(kept(runs[:3])), "utf-8")
    (folder / "result.json").write_text(json_pretty(runs[3].result.to_json()), "utf-8")
    (folder / "manifest.json").write_text(json_pretty(runs[3].manifest.to_json()), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
