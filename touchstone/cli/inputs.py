"""What `check` takes only in a job, and the Action's inputs: variables that each stand for one of its flags.

Nothing of an input is ever read by a shell; what a flag refuses, an input is refused for.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import click
from click.core import ParameterSource

from touchstone.cli.options import Command
from touchstone.errors import UsageError

PREFIX = "TOUCHSTONE_INPUT_"

INPUTS: dict[str, str] = {
    "packs": "--pack",
    "config": "--config",
    "working-directory": "--working-directory",
    "baseline-from": "--baseline-from",
    "comment": "--comment",
    "fail-on": "--fail-on",
    "language": "--language",
    "shard": "--shard",
    "merge": "--merge",
    "allow-forks": "--allow-forks",
    "base-url": "--base-url",
    "api-key-env": "--api-key-env",
    "judge-base-url": "--judge-base-url",
    "judge-api-key-env": "--judge-api-key-env",
    "tenant": "--tenant",
    "target": "--target",
    "name": "--name",
    "require-baseline": "--require-baseline",
    "max-calls": "--max-calls",
    "max-minutes": "--max-minutes",
}
"""Input → flag. `github-token` is the environment's GITHUB_TOKEN; `python` is read by the Action's script."""

ONLY_IN_A_JOB = ("comment", "fail_on", "require_baseline", "allow_forks", "name", "working_directory")

_SWITCHES = frozenset({"allow-forks", "require-baseline"})
_LISTS = frozenset({"packs"})


def ci_options(command: Command) -> Command:
    """`--ci` and what only matters with it."""
    options = (
        click.option(
            "--ci", type=click.Choice(["github"]), help="In a job: tell its forge. The rest is for it."
        ),
        click.option(
            "--comment",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            help="When to comment (auto: when something moved).",
        ),
        click.option(
            "--fail-on",
            type=click.Choice(["worse", "not-judged", "suspect"]),
            help="What fails the job (not-judged: also what could not be judged or compared).",
        ),
        click.option("--require-baseline", is_flag=True, help="A pack without a baseline has no good end."),
        click.option("--allow-forks", is_flag=True, help="Run a fork's code on a machine of your own."),
        click.option("--name", metavar="NAME", help="Tells this call's comment from another's."),
        click.option("--working-directory", metavar="FOLDER", help="Of the checkout; where to work."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def refuse_outside_a_job(context: click.Context) -> None:
    """UsageError for an option that has a meaning in a job only."""
    for name in ONLY_IN_A_JOB:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise UsageError(f"--{name.replace('_', '-')} is for a job: --ci github")


def variable_of(name: str) -> str:
    """The variable that carries an input."""
    return PREFIX + name.upper().replace("-", "_")


def with_inputs(context: click.Context, environ: Mapping[str, str]) -> dict[str, Any]:
    """The parameters of a call, the inputs included; what stands on the command line goes before.

    UsageError for an input that its flag would not take.
    """
    words = [word for name in INPUTS for word in _words(name, environ.get(variable_of(name), ""))]
    try:
        told = context.command.make_context(context.info_name, words).params
    except click.ClickException as error:
        raise UsageError(f"an input of the Action: {error.format_message()}") from None
    typed = {
        name: value
        for name, value in context.params.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    return told | typed


def _words(name: str, value: str) -> list[str]:
    """An input as words of a command line; none where it is empty."""
    flag, value = INPUTS[name], value.strip()
    if not value:
        return []
    if name in _SWITCHES:
        if value not in {"true", "false"}:
            raise UsageError(f"the input {name} is true or false, not {value!r}")
        return [flag] if value == "true" else []
    if name not in _LISTS:
        return [f"{flag}={value}"]
    try:
        return [f"{flag}={item}" for item in shlex.split(value)]
    except ValueError as error:
        raise UsageError(f"the input {name} cannot be split into names: {str(error).lower()}") from None
