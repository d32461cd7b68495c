"""`touchstone list`: the packs and runs there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from touchstone.cli.options import json_option, settings_options
from touchstone.cli.session import packs_of, settings_of
from touchstone.files import json_pretty
from touchstone.render.plain import one_line
from touchstone.run.find import list_bundles

RUNS_SHOWN_MAX = 20


@click.command(name="list", epilog="Example: touchstone list --json")
@settings_options(asks=False)
@json_option
def command(as_json: bool, **given: Any) -> None:
    """The packs and runs there are, newest run last."""
    effective = settings_of(given)
    packs = [
        {
            "id": loaded.pack.id,
            "version": loaded.pack.version,
            "title": loaded.pack.title,
            "prompts": sum(1 for _ in loaded.pack.prompts()),
            "file": _shown(loaded.path, effective.root),
        }
        for loaded in packs_of(effective, (), Path.cwd())
    ]
    bundles = list_bundles(effective.root / effective.config.runs_dir)
    runs = [{"id": bundle.id, "judged": bundle.judgements_path.exists()} for bundle in bundles]
    if as_json:
        click.echo(json_pretty({"packs": packs, "runs": runs}), nl=False)
        return
    for pack in packs:
        title = one_line(str(pack["title"]), 50)
        click.echo(f"{pack['id']} {pack['version']}  {pack['prompts']} prompts  {title}  ({pack['file']})")
    for run in runs[-RUNS_SHOWN_MAX:]:
        click.echo(f"{run['id']}  {'judged' if run['judged'] else 'not judged'}")


def _shown(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
