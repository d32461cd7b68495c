"""One table: what was measured beside what it should be, and beside it ten times the work.

    make bench                        everything, about eleven minutes on an idle machine
    make bench ARGS="compare page"    some of it
    make bench ARGS=--quick           each figure once, without ten times the work
    make bench ARGS=--write           also into docs/explanation/speed.md

Ratios are measured in one run, side by side; figures are medians of five, or of fewer where one takes
long. CPU seconds are user and system time. Ends with 1 where a target is missed.
"""

from __future__ import annotations

import argparse
import compileall
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import asking, keeping, starting, telling, watching
from benchmarks.figure import ROOT, Effort, Figure, Row

PAGE = ROOT / "docs/explanation/speed.md"
BEGIN, END = "<!-- make bench ARGS=--write -->", "<!-- end of the table -->"
FIGURES: dict[str, Figure] = {
    "floor": asking.floors,
    "cpu": asking.cpu,
    "memory": asking.memory,
    "switches": asking.switches,
    "estimate": asking.estimate,
    "reuse": asking.reuse,
    "version": starting.version,
    "validate": starting.validate,
    "hook": starting.hook,
    "compare": keeping.compare,
    "resume": asking.resume,
    "promote": keeping.promote,
    "history": keeping.history,
    "sampler": watching.sampler,
    # Last: these grow this process, and whatever it starts afterwards is told to have been as large.
    "comment": telling.comment,
    "page": telling.page,
}
HEAD = "| figure | target | measured | 10 × the work | met |\n| --- | --- | --- | --- | --- |"


def main() -> int:
    """Print the table row by row; 1 when a target is missed."""
    given = _arguments()
    names = given.figures or list(FIGURES)
    # A module that was edited a moment ago would be compiled in every process that is measured.
    compileall.compile_dir(ROOT / "touchstone", quiet=1)
    effort = Effort(tries=1, tenfold=False) if given.quick else Effort()
    began, lines, rows = time.monotonic(), [machine(), "", HEAD], []
    print("\n".join(lines), flush=True)
    for row in _measured(names, effort):
        rows.append(row)
        lines.append(row.markdown())
        print(lines[-1], flush=True)
    minutes = (time.monotonic() - began) / 60
    missed = [row.figure for row in rows if row.met is False]
    told = f"{len(rows)} figures in {minutes:.1f} minutes; {len(missed)} over the target."
    print(f"\n{told}")
    if given.write:
        _write([*lines, "", told])
    return int(bool(missed))


def machine() -> str:
    """What it was measured on, in one line."""
    loads = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    return (
        f"{_chip()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}; load before the run {loads}; "
        f"{datetime.now(UTC):%Y-%m-%d}, commit {commit or 'n/a'}."
    )


def _measured(names: list[str], effort: Effort) -> Iterator[Row]:
    for name in names:
        yield from FIGURES[name](effort)


def _chip() -> str:
    if sys.platform == "darwin":
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    found = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return found[1] if found else platform.processor()


def _write(lines: list[str]) -> None:
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{after}", "utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description="How fast touchstone is.")
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=f"of {', '.join(FIGURES)}; default: all")
    parser.add_argument("--quick", action="store_true", help="each figure once, without ten times the work")
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.relative_to(ROOT)}")
    given = parser.parse_args()
    unknown = [name for name in given.figures if name not in FIGURES]
    if unknown:
        parser.error(f"no figure called {', '.join(unknown)}; there are {', '.join(FIGURES)}")
    if given.write and (given.figures or given.quick):
        parser.error("--write puts the whole table into the page, every figure measured in full")
    return given


if __name__ == "__main__":
    sys.exit(main())
