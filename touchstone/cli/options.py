"""Options every verb shares, and the settings they override.

A flag is a setting's key path with dashes, `endpoint.` dropped; what is given beats `touchstone.yaml`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from touchstone.cli.completion import pack_names, run_names
from touchstone.errors import UsageError
from touchstone.run.plan import Part, Shard

Command = TypeVar("Command", bound=Callable[..., Any])


class Flag(NamedTuple):
    """A flag that overrides one setting."""

    name: str
    path: str
    type: click.ParamType[Any]
    line: str


SETTING_FLAGS: tuple[Flag, ...] = (
    Flag("--base-url", "endpoint.base_url", click.STRING, "The model server, e.g. http://127.0.0.1:1234/v1."),
    Flag("--api-key-env", "endpoint.api_key_env", click.STRING, "Environment variable that holds its key."),
    Flag("--concurrency", "endpoint.concurrency", click.INT, "Requests in flight (timings only at 1)."),
    Flag("--judge-model", "judge.model", click.STRING, "The model that scores."),
    Flag("--judge-base-url", "judge.endpoint.base_url", click.STRING, "The judge's server, if another."),
    Flag("--judge-api-key-env", "judge.endpoint.api_key_env", click.STRING, "Variable that holds its key."),
    Flag("--max-calls", "max_calls", click.INT, "Refuse to start what would take more requests."),
    Flag("--max-minutes", "max_minutes", click.FLOAT, "Stop after so many minutes, keeping everything."),
    Flag("--runs-dir", "runs_dir", click.STRING, "Where runs are kept."),
    Flag("--baselines-dir", "baselines_dir", click.STRING, "Where baselines are kept."),
    Flag("--tenant", "tenant", click.STRING, "Whose baselines."),
    Flag("--target", "target", click.STRING, "Chooses among a pack's baseline files."),
    Flag("--language", "language", click.Choice(["en", "de"]), "Language of what is printed."),
)

_ASKING = ("endpoint.", "judge.", "max_")
"""Settings that only matter to verbs that ask a model."""

_PARAMETER_OF = {flag.name: flag.name[2:].replace("-", "_") for flag in SETTING_FLAGS}


def settings_options(*, asks: bool) -> Callable[[Command], Command]:
    """`--config`, `--quiet` and the setting flags; those of the engine and the judge only where `asks`."""

    def decorate(command: Command) -> Command:
        for flag in reversed(SETTING_FLAGS):
            if asks or not flag.path.startswith(_ASKING):
                command = click.option(flag.name, type=flag.type, help=flag.line)(command)
        if asks:
            command = click.option(
                "--wait", is_flag=True, help="Wait for another run on the same engine to end."
            )(command)
            command = click.option(
                "--model", "models", multiple=True, metavar="MODEL", help="A model to ask; repeatable."
            )(command)
        command = quiet_option(command)
        return click.option(
            "--config",
            "config_path",
            type=click.Path(path_type=Path),
            help="Settings file (default: touchstone.yaml here or at the top of the repository).",
        )(command)

    return decorate


def overrides_of(given: Mapping[str, Any]) -> dict[str, tuple[object, str]]:
    """Key path → (value, flag) of every setting flag that was given."""
    return {
        flag.path: (given[_PARAMETER_OF[flag.name]], flag.name)
        for flag in SETTING_FLAGS
        if given.get(_PARAMETER_OF[flag.name]) is not None
    }


def with_flags(command: str, given: Mapping[str, Any]) -> str:
    """A command to copy, with the setting flags this one was given before its last option."""
    told = [("--config", given.get("config_path"))]
    told += [(flag.name, given.get(_PARAMETER_OF[flag.name])) for flag in SETTING_FLAGS]
    told += [("--model", model) for model in given.get("models") or ()]
    words = [word for name, value in told if value is not None for word in (name, str(value))]
    head, _, last = command.rpartition(" ")
    return " ".join(filter(None, [head, shlex.join(words), last]))


def json_option(command: Command) -> Command:
    """`--json`: the machine's form on stdout."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def quiet_option(command: Command) -> Command:
    """`--quiet`: no progress, no notes; warnings and faults are always told."""
    told = "No progress and no notes on stderr; what is wrong is always told."
    return click.option("--quiet", "-q", is_flag=True, help=told)(command)


def silent_option(command: Command) -> Command:
    """`--quiet` on a verb that says nothing but its result: taken, so that a script may give it to all."""
    return click.option(
        "--quiet", "-q", is_flag=True, expose_value=False, help="Nothing: only the result is ever printed."
    )(command)


def run_options(*, resumes: str) -> Callable[[Command], Command]:
    """What every verb that starts runs takes beside its own options: packs or runs, which part of a pack,
    settings, how it speaks. `resumes` says what `--resume` goes on with.
    """
    options = (
        click.option(
            "--pack",
            "packs",
            multiple=True,
            metavar="PACK",
            shell_complete=pack_names,
            help="Pack file, folder or id; repeatable.",
        ),
        click.option("--only", multiple=True, metavar="ID/TAG", help="Just these prompts; repeatable."),
        click.option("--limit", type=click.IntRange(min=1), help="At most so many prompts."),
        click.option("--shard", type=ShardType(), help="This machine's share, e.g. 2/3; see merge."),
        click.option(
            "--resume", "runs", multiple=True, metavar="RUN", shell_complete=run_names, help=resumes
        ),
        click.option("--strict-preflight", is_flag=True, help="Stop where a model fails its longest prompt."),
        settings_options(asks=True),
        json_option,
    )

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


class ShardType(click.ParamType[Shard]):
    """`2/3`, the second of three."""

    name = "I/N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Shard:
        """The shard; click's usage error where it is none."""
        try:
            return Shard.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def part_of(given: Mapping[str, Any]) -> Part:
    """What of each pack is to be asked, by the flags of `run_options`."""
    return Part(given["only"], given["limit"], given["shard"])


def merge_option(command: Command) -> Command:
    """`--merge`: shards that were measured elsewhere, in the place of a run of one's own."""
    told = "Judge the shards in this folder, instead of measuring; see merge."
    return click.option("--merge", "shards", metavar="FOLDER", help=told)(command)


def refuse_mixed_start(given: Mapping[str, Any], *own: object) -> None:
    """Going on with a run leaves nothing to say of how it starts; `own` are the verb's flags of a start."""
    begun = "--merge" if given.get("shards") else "--resume" if given["runs"] else None
    if begun and (given["packs"] or not part_of(given).is_whole or any(own)):
        raise UsageError(
            f"{begun} goes on with a run as it was started: leave out the other flags of a start"
        )
    if given["runs"] and given.get("shards"):
        raise UsageError("--merge and --resume each name the runs to go on with", "Leave one of them out.")
