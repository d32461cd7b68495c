"""`touchstone select`: pick the typical run of three."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from touchstone.cli.completion import run_names
from touchstone.cli.options import json_option, settings_options
from touchstone.cli.session import settings_of, show
from touchstone.files import json_document, write_document
from touchstone.gate.runs import SELECTION_NAME, load_run
from touchstone.render.phrases import phrase
from touchstone.render.selection import selection_text
from touchstone.render.words import Words
from touchstone.result.select import select_typical
from touchstone.run.find import find_bundle


@click.command(epilog="Example: touchstone select RUN RUN RUN")
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN RUN", shell_complete=run_names)
@settings_options(asks=False)
@json_option
def command(runs: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Pick the typical run of three (or any odd number) of the frozen system.

    For each row whose value differs, the run that holds the middle value gets a vote; the run most often
    in the middle is the typical one. The choice is written into its folder; promoting that run promotes
    all three draws.
    """
    effective = settings_of(given)
    runs_dir = effective.root / effective.config.runs_dir
    bundles = [find_bundle(name, runs_dir, Path.cwd()) for name in runs]
    selection = select_typical([load_run(bundle).result for bundle in bundles])
    chosen = bundles[selection.chosen]
    write_document(chosen.path / SELECTION_NAME, selection.to_json())
    if as_json:
        click.echo(json_document(selection.to_json()), nl=False)
        return
    words = Words(effective.config.language)
    show(selection_text(selection, words.language))
    click.echo(phrase(words, "promote_it", command=f"touchstone promote {chosen.id}"))
