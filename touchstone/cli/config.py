"""`touchstone config`: every setting in force and where it comes from."""

from __future__ import annotations

from typing import Any

import click

from touchstone.cli.options import json_option, overrides_of, settings_options
from touchstone.config import Effective, load_config
from touchstone.files import json_line, json_pretty
from touchstone.yaml_source import seen


@click.command(name="config", epilog="Example: touchstone config --json")
@settings_options(asks=True)
@json_option
def command(as_json: bool, **given: Any) -> None:
    """The effective settings, each with its origin: the default, a line of the file, or a flag."""
    effective = load_config(given["config_path"], overrides_of(given) | _models_of(given))
    for note in effective.notes:
        click.echo(seen(note), err=True)
    click.echo(as_json_text(effective) if as_json else as_text(effective), nl=False)


def as_text(effective: Effective) -> str:
    """One `setting = value  (origin)` per line."""
    lines = [f"{name} = {json_line(value)}  ({origin})" for name, value, origin in _rows(effective)]
    return "".join(f"{seen(line)}\n" for line in [f"file: {effective.path or 'none'}", *lines])


def as_json_text(effective: Effective) -> str:
    """An object: the file, the folder settings are relative to, and value and origin of each setting."""
    settings = {name: {"value": value, "origin": origin} for name, value, origin in _rows(effective)}
    path = None if effective.path is None else str(effective.path)
    return json_pretty({"file": path, "root": str(effective.root), "settings": settings}, sort_keys=False)


def _rows(effective: Effective) -> list[tuple[str, Any, str]]:
    values = effective.config.model_dump(mode="json", by_alias=True)
    return [(name, _at(values, name), origin) for name, origin in effective.origins.items()]


def _at(values: Any, name: str) -> Any:
    for part in name.split("."):
        values = values[part]
    return values


def _models_of(given: dict[str, Any]) -> dict[str, tuple[object, str]]:
    names = given.get("models") or ()
    return {"models": ([{"id": name} for name in names], "--model")} if names else {}
