"""Find a run by path, id, unique prefix of an id, or `latest`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from touchstone.errors import BadInputError
from touchstone.run.bundle import MANIFEST_NAME, Bundle


def find_bundle(name: str, runs_dir: Path, cwd: Path) -> Bundle:
    """The bundle a person means; BadInputError saying what there is otherwise."""
    as_path = cwd / name
    if (as_path / MANIFEST_NAME).is_file():
        return Bundle(as_path)
    if as_path.name in {MANIFEST_NAME, "result.json", "judgements.jsonl"} and as_path.is_file():
        return Bundle(as_path.parent)
    bundles = list_bundles(runs_dir)
    if name == "latest":
        return _latest(bundles, runs_dir)
    matches = [bundle for bundle in bundles if bundle.id.startswith(name)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise BadInputError(
            f"{name}: {len(matches)} runs begin like that",
            "Name one of: " + ", ".join(bundle.id for bundle in matches[:5]),
        )
    raise BadInputError(f"{name}: no such run in {runs_dir}", _what_there_is(bundles))


def list_bundles(runs_dir: Path, wanted: Callable[[Bundle], bool] = lambda _: True) -> list[Bundle]:
    """Every bundle in the runs folder, oldest first."""
    if not runs_dir.is_dir():
        return []
    found = (
        folder
        for folder in runs_dir.iterdir()
        if not folder.name.startswith(".") and (folder / MANIFEST_NAME).is_file()
    )
    folders = sorted(found, key=_age)
    return [bundle for bundle in map(Bundle, folders) if wanted(bundle)]


def _age(folder: Path) -> tuple[str, int, str]:
    """An id tells the second; among those of one second, the manifest that was written first."""
    second, _, _ = folder.name.partition("_")
    return second, (folder / MANIFEST_NAME).stat().st_mtime_ns, folder.name


def _latest(bundles: list[Bundle], runs_dir: Path) -> Bundle:
    """The newest run whose answers were asked; one that was only judged again does not push it aside."""
    for bundle in reversed(bundles):
        if bundle.manifest.rejudged_from is None:
            return bundle
    raise BadInputError(f"latest: no run in {runs_dir} yet", _what_there_is(bundles))


def _what_there_is(bundles: list[Bundle]) -> str:
    if not bundles:
        return "Make one: touchstone measure --pack PACK --base-url URL --model MODEL"
    return "The newest runs: " + ", ".join(bundle.id for bundle in bundles[-3:])
