"""`touchstone report`: a run's result as a text to read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from touchstone.cli.options import json_option, settings_options
from touchstone.cli.session import settings_of
from touchstone.files import json_document
from touchstone.gate.runs import load_run
from touchstone.render.report import report_markdown
from touchstone.run.find import find_bundle


@click.command(epilog="Example: touchstone report latest")
@click.argument("run", metavar="RUN")
@click.option(
    "--format",
    "form",
    type=click.Choice(["md", "json"]),
    default="md",
    help="Markdown, or result.json's content.",
)
@settings_options(asks=False)
@json_option
def command(run: str, form: str, as_json: bool, **given: Any) -> None:
    """A run's result as a text to read.

    RUN is a path, an id, a unique beginning of one, or latest.
    """
    effective = settings_of(given)
    bundle = find_bundle(run, effective.root / effective.config.runs_dir, Path.cwd())
    result = load_run(bundle).result
    if as_json or form == "json":
        click.echo(json_document(result.to_json()), nl=False)
    else:
        click.echo(report_markdown(result, bundle.answers(), effective.config.language), nl=False)
