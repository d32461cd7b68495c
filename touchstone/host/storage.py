"""Where runs are kept: room, permission, and whether its clock is this machine's."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Storage:
    """The folder a path lies in, or would be made in. None where the system does not tell.

    `clock_ahead_s` is how far the time it gives a file written now is ahead of this machine's clock.
    """

    folder: Path
    free_bytes: int | None
    is_writable: bool
    clock_ahead_s: float | None


def storage_of(path: Path, clock: Callable[[], float] = time.time) -> Storage:
    """Look at the nearest folder that exists; one nameless file is written and gone at once."""
    folder = next(place for place in (path.absolute(), *path.absolute().parents) if place.is_dir())
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        free = None
    ahead = _clock_ahead(folder, clock)  # None where nothing can be written; asking for the right is no proof
    return Storage(folder, free, is_writable=ahead is not None, clock_ahead_s=ahead)


def _clock_ahead(folder: Path, clock: Callable[[], float]) -> float | None:
    before = clock()
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b".")
            file.flush()
            written = os.fstat(file.fileno()).st_mtime
    except OSError:
        return None
    after = clock()
    if written > after:
        return written - after
    return min(written - before, 0.0)
