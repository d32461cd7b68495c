"""`touchstone merge`: the shards of a run, measured on several machines, as one run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from touchstone.cli.completion import run_names
from touchstone.cli.options import json_option, settings_options
from touchstone.cli.session import say, settings_of, show_results
from touchstone.errors import BadInputError, ExitCode
from touchstone.gate.further import CHECK_DRAW
from touchstone.gate.measure import unanswered, unjudged
from touchstone.gate.merge import merged_run, runs_among
from touchstone.gate.runs import load_run
from touchstone.run.bundle import MANIFEST_NAME, Bundle
from touchstone.run.find import find_bundle


@click.command(epilog="Example: touchstone merge shards/*/")
@click.argument("shards", nargs=-1, required=True, metavar="SHARD…", shell_complete=run_names)
@settings_options(asks=False)
@json_option
def command(shards: tuple[str, ...], as_json: bool, **given: Any) -> int:
    """Put shards together as the run they are parts of.

    A shard is a run made with --shard, on any machine; name all of them, of one pack and draw or of
    several, or a folder they lie in. A missing shard, one that is there twice, and shards of different
    systems are refused by name. The shards stay as they are; nothing is asked. Where the machines differ,
    what they differ in is not known of the run: its speed is then compared with nothing.
    """
    effective = settings_of(given)
    bundles = merged(shards, effective.root / effective.config.runs_dir)
    results = [load_run(bundle).result for bundle in bundles]
    show_results(bundles, results, as_json=as_json, language=effective.config.language)
    for bundle in bundles if not given["quiet"] else ():
        say(f"  → {_next_step(bundle)}")
    judged = [result.run.judged is not None for result in results]
    silent = [
        unjudged(result, bundle.manifest.suite) if known else unanswered(result)
        for result, bundle, known in zip(results, bundles, judged, strict=True)
    ]
    return ExitCode.NOT_JUDGED if any(silent) else ExitCode.NOTHING_WORSE


def merged(names: Sequence[str], runs_dir: Path) -> list[Bundle]:
    """The runs that the named shards make, put together in the runs folder."""
    shards = [bundle for name in names for bundle in _shards_named(name, runs_dir)]
    return [merged_run(parts, runs_dir, datetime.now(UTC)) for parts in runs_among(shards)]


def _shards_named(name: str, runs_dir: Path) -> list[Bundle]:
    """A run, or all that lie somewhere in a folder, such as the one artifacts were fetched into."""
    folder = Path.cwd() / name
    if not folder.is_dir() or (folder / MANIFEST_NAME).exists():
        return [find_bundle(name, runs_dir, Path.cwd())]
    found = [Bundle(path.parent) for path in sorted(folder.rglob(MANIFEST_NAME))]
    if not found:
        raise BadInputError(f"{name}: no run in this folder", "Name the folder the shards were put into.")
    return found


def _next_step(bundle: Bundle) -> str:
    if load_run(bundle).result.run.judged is None:
        return f"touchstone judge --bundle {bundle.id}"
    if bundle.manifest.draw == CHECK_DRAW:
        return f"touchstone check --resume {bundle.id}"
    return f"touchstone compare {bundle.id}"
