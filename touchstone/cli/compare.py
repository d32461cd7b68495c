"""`touchstone compare`: a run beside its baseline, or two runs; files only."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from touchstone.cli.completion import run_names
from touchstone.cli.options import json_option, settings_options
from touchstone.cli.reading import reference_of
from touchstone.cli.session import settings_of, show
from touchstone.errors import UsageError
from touchstone.files import json_document, write_document
from touchstone.gate.compared import compared
from touchstone.gate.held import Held
from touchstone.render.comparison import comparison_text
from touchstone.run.bundle import COMPARISON_NAME
from touchstone.run.find import find_bundle


@click.command(epilog="Example: touchstone compare latest")
@click.argument("sides", nargs=-1, required=True, metavar="[OLD] NEW", shell_complete=run_names)
@settings_options(asks=False)
@json_option
def command(sides: tuple[str, ...], as_json: bool, **given: Any) -> int:
    """A run beside its baseline, or two runs. Files only: nothing is asked.

    NEW is a run. OLD is a run, a baseline file, or REF:PATH; without it, the committed baseline of the
    run's pack (at the merge base with the default branch, else at HEAD; never the working tree).
    """
    if len(sides) > 2:
        raise UsageError("compare takes one or two sides: touchstone compare [OLD] NEW")
    effective = settings_of(given)
    today = datetime.now(UTC).date()
    new = find_bundle(sides[-1], effective.root / effective.config.runs_dir, Path.cwd())
    reference = reference_of(sides[0] if len(sides) == 2 else None, new, effective, today)
    comparison = compared(reference, new, effective.config)
    write_document(new.path / COMPARISON_NAME, comparison.to_json())
    if as_json:
        click.echo(json_document(comparison.to_json()), nl=False)
    else:
        answers = Held(reference, new).answers() if reference else {}
        show(comparison_text(comparison, effective.config.language, answers))
    return comparison.exit
