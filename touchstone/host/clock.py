"""Is the clock fit to time answers by? As far as a machine can tell by itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_LOOK_S = 0.2


@dataclass(frozen=True)
class ClockLook:
    """`parted_s`: by how much wall clock and monotonic clock moved apart during the look.

    `behind_s`: how far the wall clock lies before the time touchstone itself was written to this disk, which
    is surely past; 0 where it does not.
    """

    parted_s: float
    behind_s: float


def clock_look(
    wall: Callable[[], float] = time.time, running: Callable[[], float] = time.monotonic
) -> ClockLook:
    """Watch both clocks for a fifth of a second. Whether the hour is right, no machine knows offline."""
    wall_began, running_began = wall(), running()
    time.sleep(_LOOK_S)
    parted = (wall() - wall_began) - (running() - running_began)
    return ClockLook(parted, max(0.0, Path(__file__).stat().st_mtime - wall()))
