"""`touchstone report`: a run's result as a text to read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from touchstone.cli.completion import run_names
from touchstone.cli.options import json_option, settings_options
from touchstone.cli.page import page_of
from touchstone.cli.reading import FORMS, reading_of
from touchstone.cli.session import say, settings_of
from touchstone.files import write_atomic
from touchstone.run.find import find_bundle

PAGE = "html"


@click.command(epilog="Example: touchstone report latest --against HEAD:baselines/default/starter.json")
@click.argument("run", metavar="RUN", shell_complete=run_names)
@click.option(
    "--against",
    metavar="OLD",
    shell_complete=run_names,
    help="Hold it against a run, a baseline file, or REF:PATH.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice([*FORMS, PAGE]),
    default="md",
    help="Markdown for GitHub; for Obsidian; what a pull request would be told; its first lines alone; "
    "JUnit XML; a table for a spreadsheet; result.json's content, or the comparison's; a page for a browser.",
)
@click.option("--write", type=click.Path(path_type=Path, dir_okay=False), help="Write it to a file instead.")
@settings_options(asks=False)
@json_option
def command(
    *, run: str, against: str | None, form: str, write: Path | None, as_json: bool, **given: Any
) -> None:
    """A run's result as a text to read; files only.

    RUN is a path, an id, a unique beginning of one, or latest. With --against the verdict, the scores old →
    new and the prompt's diff come first, and JUnit, CSV and JSON tell the comparison. The exit code says
    only whether there is a report; the verdict's own is that of compare and check.
    """
    effective = settings_of(given)
    bundle = find_bundle(run, effective.root / effective.config.runs_dir, Path.cwd())
    if form == PAGE and not as_json:
        text = page_of(bundle, effective, against, quiet=given["quiet"])
    else:
        reading = reading_of(bundle, effective, against, quiet=given["quiet"])
        text = FORMS["json" if as_json else form](reading, effective.config.language)
    if write is not None:
        write_atomic(write, text)
        if not given["quiet"]:
            say(f"{write}: {len(text.encode())} bytes")
        return
    # Bytes, so that no platform turns line ends or letters into others.
    click.echo(text.encode(), nl=False)
