"""`touchstone history`: what was agreed to, commit by commit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from touchstone.cli.completion import pack_names
from touchstone.cli.options import json_option, settings_options
from touchstone.cli.session import packs_of, say, settings_of, show
from touchstone.errors import BadInputError
from touchstone.files import json_pretty, write_atomic
from touchstone.gate.history import history_of
from touchstone.render.history import history_text
from touchstone.render.page import history_html


@click.command(epilog="Example: touchstone history starter --limit 5")
@click.argument("packs", nargs=-1, metavar="[PACK]...", shell_complete=pack_names)
@click.option("--limit", type=click.IntRange(min=1), help="At most so many commits of each baseline.")
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a page with a chart of each pack to FILE.",
)
@settings_options(asks=False)
@json_option
def command(
    *, packs: tuple[str, ...], limit: int | None, page: Path | None, as_json: bool, **given: Any
) -> None:
    """What was agreed to, commit by commit: date, author, reason, numbers, prompt.

    PACK is a pack's id; without one, every pack's baseline is told.
    """
    effective = settings_of(given)
    ids = packs or [loaded.pack.id for loaded in packs_of(effective, (), Path.cwd())]
    found = {id_: history_of(effective.config, effective.root, id_, limit) for id_ in ids}
    missing = [id_ for id_, history in found.items() if history is None]
    histories = [history for history in found.values() if history is not None]
    if missing and (packs or not histories):
        raise BadInputError(
            f"{', '.join(missing)}: no baseline in the history of HEAD",
            f"Make one: touchstone measure --pack {missing[0]} --times 3, then select and promote.",
        )
    for id_ in missing if not given["quiet"] else ():
        say(f"{id_}: no baseline yet")
    if page is not None:
        text = history_html(histories, effective.config.language)
        write_atomic(page, text)
        if not given["quiet"]:
            say(f"{page}: {len(text.encode())} bytes")
    if as_json:
        click.echo(json_pretty([history.to_json() for history in histories], sort_keys=False), nl=False)
        return
    show("\n".join(history_text(one, effective.config.language) for one in histories))
