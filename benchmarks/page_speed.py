"""How long a page takes, by the number of rows.

    python benchmarks/page_speed.py [ROWS …]

Every row moved and every answer is another one of 2,000 characters with letters outside ASCII; beside it the
same rows with nothing moved. Seconds are CPU seconds, the best of five; the last column is the time of the
moved page ÷ that of the size before it, beside the ratio of the rows.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.kit import pages
from touchstone.render.page import page_html

TARGET_S = 2.0
TARGET_ROWS = 2_000
TRIES = 5


def main() -> int:
    """Print the table; 1 when the page of two thousand rows misses its target."""
    sizes = [int(size) for size in sys.argv[1:]] or [TARGET_ROWS, 10 * TARGET_ROWS]
    print(f"{'rows':>8} {'moved s':>10} {'kB':>8} {'unmoved s':>10} {'kB':>8} {'÷ before':>20}")
    seconds: dict[int, float] = {}
    for rows in sizes:
        seconds[rows] = report(rows, seconds)
    print(f"target of the page at {TARGET_ROWS:,} rows: < {TARGET_S:g} s")
    return int(seconds.get(TARGET_ROWS, 0.0) >= TARGET_S)


def report(rows: int, before: dict[int, float]) -> float:
    """One line; the seconds of the page on which everything moved."""
    moved, still = pages.many(rows), pages.many(rows, moved=False)
    moved_s, moved_page = timed(lambda: page_html(moved))
    still_s, still_page = timed(lambda: page_html(still))
    ratio = ""
    if before:
        last = max(before)
        ratio = f"{moved_s / before[last]:.1f} (rows {rows / last:.1f})"
    print(
        f"{rows:>8} {moved_s:>10.3f} {len(moved_page.encode()) // 1000:>8} "
        f"{still_s:>10.3f} {len(still_page.encode()) // 1000:>8} {ratio:>20}"
    )
    return moved_s


def timed(write: Callable[[], str]) -> tuple[float, str]:
    """The least CPU seconds of some tries, and the text."""
    times, text = [], ""
    for _ in range(TRIES):
        began = time.process_time()
        text = write()
        times.append(time.process_time() - began)
    return min(times), text


if __name__ == "__main__":
    sys.exit(main())
