"""Old runs make room: `keep_runs` bundles stay, and always the newest three complete ones of a pack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from touchstone.errors import BadInputError, NotJudgedError
from touchstone.files import read_json, remove_folder
from touchstone.run.bundle import RESULT_NAME, Bundle
from touchstone.run.find import list_bundles

KEPT_PER_PACK = 3


class Kept(NamedTuple):
    """A bundle as retention sees it. `complete`: whole, so that a promotion could rest on it."""

    id: str
    pack: str
    complete: bool


def surplus(bundles: Sequence[Kept], keep: int) -> list[str]:
    """Ids of the bundles to remove, oldest first. `bundles` are oldest first."""
    safe = {bundle.id for bundle in bundles[-keep:]}
    for pack in {bundle.pack for bundle in bundles}:
        complete = [bundle.id for bundle in bundles if bundle.pack == pack and bundle.complete]
        safe |= set(complete[-KEPT_PER_PACK:])
    return [bundle.id for bundle in bundles if bundle.id not in safe]


def remove_surplus(runs_dir: Path, keep: int, say: Callable[[str], None]) -> None:
    """Remove what is over; a bundle that cannot be read is left alone, because nobody knows what it is."""
    bundles = list_bundles(runs_dir)
    if len(bundles) <= keep:
        return
    known = [kept for bundle in bundles if (kept := _kept(bundle)) is not None]
    for name in surplus(known, keep):
        if _remove(Bundle(runs_dir / name)):
            say(f"removed the old run {name} (keep_runs: {keep})")
        else:
            say(f"the old run {name} could not be removed (keep_runs: {keep})")


def _remove(bundle: Bundle) -> bool:
    """Remove a run nobody works on; one that somebody goes on with stays."""
    try:
        with bundle.lock():
            return remove_folder(bundle.path)
    except (NotJudgedError, BadInputError):
        return False


def _kept(bundle: Bundle) -> Kept | None:
    try:
        manifest, path = bundle.manifest, bundle.path / RESULT_NAME
        is_whole = manifest.filter is manifest.shard is manifest.rejudged_from is None
        complete = is_whole and path.exists() and read_json(path)["run"]["complete"] is True
    except (BadInputError, KeyError, TypeError):
        return None
    return Kept(bundle.id, manifest.suite.pack_id, complete)
