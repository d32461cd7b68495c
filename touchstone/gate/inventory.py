"""What there is: packs, baselines on disk, runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from touchstone.baseline import store
from touchstone.config import Config
from touchstone.errors import TouchstoneError
from touchstone.gate.runs import read_result
from touchstone.pack.load import LoadedPack
from touchstone.records import Record
from touchstone.run.bundle import Bundle
from touchstone.run.find import list_bundles


class PackEntry(Record):
    """A pack; `file` is relative to the settings' folder where it lies in it."""

    id: str
    version: int
    title: str
    prompts: int
    file: str


class Score(Record):
    """A cell's number."""

    model: str
    variant: str
    pct: float | None


class BaselineEntry(Record):
    """A baseline in the working tree. `fault` says why it cannot be used; the rest is null then."""

    file: str
    pack: str | None = None
    tenant: str | None = None
    target: str | None = None
    date: str | None = None
    runs: int | None = None
    cells: list[Score] = []
    fault: str | None = None


class RunEntry(Record):
    """A run. `cells` is empty until it is judged."""

    id: str
    pack: str | None = None
    draw: int | None = None
    filter: str | None = None
    shard: str | None = None
    judged: bool = False
    cells: list[Score] = []
    fault: str | None = None


class Inventory(Record):
    """All of it; runs oldest first."""

    packs: list[PackEntry]
    baselines: list[BaselineEntry]
    runs: list[RunEntry]


def inventory_of(
    config: Config, root: Path, packs: Sequence[LoadedPack], limit: int | None = None
) -> Inventory:
    """What the settings' folders hold, of the runs the newest `limit`.

    A file that cannot be read is listed with its fault.
    """
    baselines = root / config.baselines_dir
    runs = list_bundles(root / config.runs_dir)
    return Inventory(
        packs=[_pack(loaded, root) for loaded in packs],
        baselines=[_baseline(path, root) for path in sorted(baselines.glob("*/*.json"))],
        runs=[_run(bundle) for bundle in (runs if limit is None else runs[-limit:])],
    )


def _pack(loaded: LoadedPack, root: Path) -> PackEntry:
    return PackEntry(
        id=loaded.pack.id,
        version=loaded.pack.version,
        title=loaded.pack.title,
        prompts=sum(1 for _ in loaded.pack.prompts()),
        file=_shown(loaded.path, root),
    )


def _baseline(path: Path, root: Path) -> BaselineEntry:
    try:
        baseline = store.load(path)
    except TouchstoneError as error:
        return BaselineEntry(file=_shown(path, root), fault=error.message.splitlines()[0])
    return BaselineEntry(
        file=_shown(path, root),
        pack=baseline.pack.id,
        tenant=baseline.tenant,
        target=baseline.target,
        date=baseline.date,
        runs=len(baseline.runs),
        cells=[
            Score(model=cell.model, variant=cell.variant, pct=cell.quality.pct) for cell in baseline.cells
        ],
    )


def _run(bundle: Bundle) -> RunEntry:
    try:
        manifest = bundle.manifest
        result = read_result(bundle.result_path) if bundle.result_path.exists() else None
    except TouchstoneError as error:
        return RunEntry(id=bundle.id, fault=error.message.splitlines()[0])
    cells = result.cells if result else []
    return RunEntry(
        id=bundle.id,
        pack=manifest.suite.pack_id,
        draw=manifest.draw,
        filter=manifest.filter,
        shard=manifest.shard,
        judged=bool(result and result.run.judged),
        cells=[
            Score(model=cell.model, variant=cell.variant, pct=cell.quality.pct)
            for cell in cells
            if cell.quality
        ],
    )


def _shown(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
