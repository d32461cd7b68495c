"""`touchstone list`: the packs, baselines and runs there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from touchstone.cli.options import json_option, settings_options
from touchstone.cli.session import packs_of, settings_of, show
from touchstone.files import json_pretty
from touchstone.gate.inventory import inventory_of
from touchstone.render.inventory import inventory_text


@click.command(name="list", epilog="Example: touchstone list --json")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many runs, the newest (text: 20).")
@settings_options(asks=False)
@json_option
def command(limit: int | None, as_json: bool, **given: Any) -> None:
    """The packs, baselines and runs there are, newest run last."""
    effective = settings_of(given)
    found = inventory_of(effective.config, effective.root, packs_of(effective, (), Path.cwd()), limit)
    if as_json:
        click.echo(json_pretty(found.to_json(), sort_keys=False), nl=False)
    else:
        show(inventory_text(found, effective.config.language, limit))
