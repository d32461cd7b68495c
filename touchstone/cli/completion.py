"""What a shell may put after a verb: the names of runs, packs and prompts. A fault completes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click

from touchstone.config import Effective, load_config
from touchstone.errors import TouchstoneError
from touchstone.pack.load import find_packs, load_pack
from touchstone.run.find import find_bundle, list_bundles

LATEST = "latest"


def run_names(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Ids of runs, newest first, and `latest`."""
    return _beginning(incomplete, lambda: [LATEST, *reversed(_run_ids(_settings(ctx)))])


def pack_names(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Ids of the packs that the settings name."""
    return _beginning(incomplete, lambda: _pack_ids(_settings(ctx)))


def run_or_pack_names(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Both, where a baseline may stand for a run."""

    def names() -> Iterable[str]:
        settings = _settings(ctx)
        return [LATEST, *_pack_ids(settings), *reversed(_run_ids(settings))]

    return _beginning(incomplete, names)


def prompt_names(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Ids of the prompts of the run that is named before."""

    def names() -> Iterable[str]:
        settings = _settings(ctx)
        runs_dir = settings.root / settings.config.runs_dir
        return find_bundle(ctx.params["what"], runs_dir, runs_dir).manifest.suite.cases

    return _beginning(incomplete, names)


def _beginning(incomplete: str, names: Callable[[], Iterable[str]]) -> list[str]:
    try:
        return [name for name in names() if name.startswith(incomplete)]
    except (TouchstoneError, OSError):
        # The command itself will say what is wrong; a half-typed line is no place for it.
        return []


def _settings(ctx: click.Context) -> Effective:
    given = ctx.params.get("runs_dir")
    return load_config(ctx.params.get("config_path"), {"runs_dir": (given, "--runs-dir")} if given else {})


def _run_ids(settings: Effective) -> list[str]:
    return [bundle.path.name for bundle in list_bundles(settings.root / settings.config.runs_dir)]


def _pack_ids(settings: Effective) -> list[str]:
    folders = [settings.root / entry for entry in settings.config.packs]
    return [load_pack(path).pack.id for path in find_packs(folders)]
