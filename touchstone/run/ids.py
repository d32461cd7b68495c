"""Ids of runs: `<UTC time>_<pack>_<6 hex>`. Those of one pack sort in the order they were begun in."""

from __future__ import annotations

import re
import secrets
from datetime import datetime
from pathlib import Path

_TOKENS = 0x1000000


def new_run_id(runs_dir: Path, pack_id: str, started: datetime) -> str:
    """An id that sorts after every run of this pack in the folder that was begun by then.

    `started` is in UTC. The end is random, so that runs of two machines may be put side by side; of one
    second each is drawn from above the last, so that `ls` has them in their order too.
    """
    stem = f"{started:%Y%m%dT%H%M%SZ}_{pack_id}_"
    lowest = max((token + 1 for token in _taken(runs_dir, stem)), default=0)
    # Of what is left only an eighth: the next run of this second needs room above.
    return f"{stem}{lowest + secrets.randbelow(max(_TOKENS - lowest, 8) // 8):06x}"


def _taken(runs_dir: Path, stem: str) -> list[int]:
    """The ends of the ids that begin like this."""
    if not runs_dir.is_dir():
        return []
    ends = (folder.name.removeprefix(stem) for folder in runs_dir.iterdir() if folder.name.startswith(stem))
    return [int(end, 16) for end in ends if re.fullmatch(r"[0-9a-f]{6}", end)]
