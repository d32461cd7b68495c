"""`touchstone show`: one row of a run in full, or a baseline's prompt exactly as it was."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from touchstone.baseline.sides import Side
from touchstone.cli.completion import prompt_names, run_or_pack_names
from touchstone.cli.options import json_option, settings_options
from touchstone.cli.session import say, settings_of, show
from touchstone.config import Effective
from touchstone.errors import BadInputError, UsageError
from touchstone.files import json_pretty, write_atomic
from touchstone.gate.beside import rows_beside
from touchstone.gate.reference import agreed_reference, named_reference
from touchstone.render.row import row_text
from touchstone.run.find import find_bundle


@click.command(
    epilog="Example: touchstone show baselines/default/starter.json --variant house --write old.md"
)
@click.argument("what", metavar="RUN|BASELINE", shell_complete=run_or_pack_names)
@click.argument("prompt", required=False, shell_complete=prompt_names)
@click.option("--variant", help="Of a baseline: print this variant's text. Of a run: just this variant.")
@click.option("--write", type=click.Path(path_type=Path), help="Write the text to a file, byte for byte.")
@settings_options(asks=False)
@json_option
def command(
    *,
    what: str,
    prompt: str | None,
    variant: str | None,
    write: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """One row of a run in full, or a baseline's prompt exactly as it was.

    With PROMPT: the question, the answers of the reference and of RUN, and both verdicts. With a baseline
    (file, REF:PATH, or pack id) and --variant: the exact text the baseline was measured under.
    """
    effective = settings_of(given)
    if prompt is None:
        _show_variant(what, variant, write, effective, as_json=as_json, quiet=given["quiet"])
    else:
        _show_row(what, prompt, variant, effective, as_json=as_json)


def _show_variant(
    name: str, variant: str | None, write: Path | None, effective: Effective, *, as_json: bool, quiet: bool
) -> None:
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
        if not quiet:
            say(f"{write}: {len(text.encode())} bytes, the text of variant {variant}")
    elif as_json:
        click.echo(json_pretty(side.suite.variants[variant].to_json()), nl=False)
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


def _show_row(run: str, prompt: str, variant: str | None, effective: Effective, *, as_json: bool) -> None:
    bundle = find_bundle(run, effective.root / effective.config.runs_dir, Path.cwd())
    today = datetime.now(UTC).date()
    pack = bundle.manifest.suite.pack_id
    reference = agreed_reference(effective.config, effective.root, pack, today)
    rows = rows_beside(bundle, reference, prompt, variant)
    if as_json:
        click.echo(json_pretty([row.to_json() for row in rows], sort_keys=False), nl=False)
    else:
        show(row_text(rows, effective.config.language))
