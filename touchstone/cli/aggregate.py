"""`touchstone aggregate`: many runs in one table per pack."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from touchstone.baseline.aggregate import Aggregate, aggregate
from touchstone.cli.completion import run_names
from touchstone.cli.options import json_option, settings_options
from touchstone.cli.reading import say_if_rebuilt
from touchstone.cli.session import say, settings_of
from touchstone.files import json_pretty, write_atomic
from touchstone.gate.runs import load_run
from touchstone.render.aggregate import aggregate_csv, aggregate_markdown
from touchstone.render.page.aggregate import aggregate_page
from touchstone.render.words import Language
from touchstone.run.find import find_bundle

Form = Callable[[Aggregate, Language], str]

FORMS: dict[str, Form] = {
    "md": aggregate_markdown,
    "csv": lambda found, _language: aggregate_csv(found),
    "html": aggregate_page,
    "json": lambda found, _language: json_pretty(found.to_json(), sort_keys=False),
}


@click.command(
    epilog="Example: touchstone aggregate mini/runs/2026* studio/runs/2026* --format html --write table.html"
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", shell_complete=run_names)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMS)),
    default="md",
    help="Markdown; a table for a spreadsheet; a page; JSON.",
)
@click.option("--write", type=click.Path(path_type=Path, dir_okay=False), help="Write it to a file instead.")
@settings_options(asks=False)
@json_option
def command(*, runs: tuple[str, ...], form: str, write: Path | None, as_json: bool, **given: Any) -> None:
    """Many runs in one table per pack: a column per judge, a row per model and machine.

    Each RUN is a path (other machines' runs folders too), an id, a unique beginning of one, or latest. Where
    two judges scored the same answers (rejudge), how far they agree is told. Nothing is ranked.
    """
    effective = settings_of(given)
    bundles = [find_bundle(run, effective.root / effective.config.runs_dir, Path.cwd()) for run in runs]
    for bundle in bundles:
        say_if_rebuilt(bundle, quiet=given["quiet"])
    found = aggregate(load_run(bundle).result for bundle in bundles)
    text = FORMS["json" if as_json else form](found, effective.config.language)
    if write is not None:
        write_atomic(write, text)
        if not given["quiet"]:
            say(f"{write}: {len(text.encode())} bytes")
        return
    # Bytes, so that no platform turns line ends or letters into others.
    click.echo(text.encode(), nl=False)
