"""`touchstone show`: one row of a run in full, or a baseline's prompt exactly as it was."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from touchstone.baseline.sides import Side
from touchstone.cli.options import settings_options
from touchstone.cli.session import say, settings_of
from touchstone.config import Effective
from touchstone.errors import BadInputError, UsageError
from touchstone.files import write_atomic
from touchstone.gate.reference import agreed_reference, named_reference, runs_side
from touchstone.render.row import row_text
from touchstone.run.find import find_bundle


@click.command(
    epilog="Example: touchstone show baselines/default/starter.json --variant house --write old.md"
)
@click.argument("what", metavar="RUN|BASELINE")
@click.argument("prompt", required=False)
@click.option("--variant", help="Of a baseline: print this variant's text. Of a run: just this variant.")
@click.option("--write", type=click.Path(path_type=Path), help="Write the text to a file, byte for byte.")
@settings_options(asks=False)
def command(*, what: str, prompt: str | None, variant: str | None, write: Path | None, **given: Any) -> None:
    """One row of a run in full, or a baseline's prompt exactly as it was.

    With PROMPT: the question, the answers of the reference and of RUN, and both verdicts. With a baseline
    (file, REF:PATH, or pack id) and --variant: the exact text the baseline was measured under.
    """
    effective = settings_of(given)
    if prompt is None:
        _show_variant(what, variant, write, effective)
    else:
        _show_row(what, prompt, variant, effective)


def _show_variant(name: str, variant: str | None, write: Path | None, effective: Effective) -> None:
    if variant is None:
        raise UsageError(
            "show what? touchstone show RUN PROMPT, or touchstone show BASELINE --variant VARIANT"
        )
    side = _baseline_side(name, effective)
    if variant not in side.suite.variants:
        raise BadInputError(f"{name}: no variant {variant!r}", "It has: " + ", ".join(side.suite.variants))
    text = side.suite.variants[variant].text
    if text is None:
        raise BadInputError(f"{name}: variant {variant} sends no system prompt, so there is no text")
    if write is not None:
        write_atomic(write, text)
        say(f"{write}: {len(text.encode())} bytes, the text of variant {variant}")
    else:
        click.echo(text.encode(), nl=False)


def _baseline_side(name: str, effective: Effective) -> Side:
    today = datetime.now(UTC).date()
    reference = named_reference(name, effective.root, Path.cwd(), today)
    if reference is None:
        reference = agreed_reference(effective.config, effective.root, name, today)
    if reference is None:
        raise BadInputError(
            f"{name}: no such baseline", "Name a file, REF:PATH, or a pack whose baseline is committed."
        )
    return reference.side


def _show_row(run: str, prompt: str, variant: str | None, effective: Effective) -> None:
    bundle = find_bundle(run, effective.root / effective.config.runs_dir, Path.cwd())
    side = runs_side([bundle])
    if prompt not in side.suite.cases:
        raise BadInputError(f"{bundle.id}: no prompt {prompt!r}", "It has: " + ", ".join(side.suite.cases))
    today = datetime.now(UTC).date()
    reference = agreed_reference(effective.config, effective.root, side.suite.pack_id, today)
    old = reference.side if reference else None
    click.echo(row_text(side, old, prompt, variant, effective.config.language), nl=False)
