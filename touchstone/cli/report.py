"""`touchstone report`: a run's result as a text to read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from touchstone.cli.completion import run_names
from touchstone.cli.options import json_option, settings_options
from touchstone.cli.session import settings_of
from touchstone.files import json_document
from touchstone.gate.runs import load_run
from touchstone.render.csv import result_csv
from touchstone.render.junit import junit_xml
from touchstone.render.report import Answers, report_markdown
from touchstone.render.scorecard import scorecard_markdown
from touchstone.render.words import Language
from touchstone.result.schema import ResultDoc
from touchstone.run.find import find_bundle

Form = Callable[[ResultDoc, Answers, Language], str]
"""A result and its answers as a text."""

FORMS: dict[str, Form] = {
    "md": report_markdown,
    "scorecard": lambda result, _answers, language: scorecard_markdown(result, language),
    "junit": junit_xml,
    "csv": lambda result, _answers, _language: result_csv(result),
    "json": lambda result, _answers, _language: json_document(result.to_json()),
}


@click.command(epilog="Example: touchstone report latest")
@click.argument("run", metavar="RUN", shell_complete=run_names)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMS)),
    default="md",
    help="Markdown; its first lines alone; JUnit XML; a table for a spreadsheet; result.json's content.",
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
    text = FORMS["json" if as_json else form](result, bundle.answers(), effective.config.language)
    # Bytes, so that no platform turns line ends or letters into others.
    click.echo(text.encode(), nl=False)
