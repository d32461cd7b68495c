"""The flags that every verb, or every verb of a kind, has."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from touchstone.cli.main import VERBS, touchstone

WITHOUT_QUIET = {"demo"}
"""Its story is all it prints."""
READING = {
    "check", "show", "history", "measure", "eval", "judge", "compare", "select", "report", "validate", "list",
    "rejudge", "config", "doctor", "engine status",
}  # fmt: skip
NARROWING = {
    "check": {"--only", "--limit"},
    "measure": {"--only", "--limit"},
    "eval": {"--only", "--limit"},
    "history": {"--limit"},
    "list": {"--limit"},
}


def commands() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(touchstone)
    for name in VERBS:
        command = touchstone.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {sub}", found) for sub, found in command.commands.items())
        else:
            yield name, command


COMMANDS = dict(commands())


def flags_of(command: click.Command) -> set[str]:
    return {flag for param in command.params for flag in [*param.opts, *param.secondary_opts]}


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - WITHOUT_QUIET))
def test_every_verb_can_be_told_to_be_quiet(name: str) -> None:
    assert {"--quiet", "-q"} <= flags_of(COMMANDS[name])


@pytest.mark.parametrize("name", sorted(READING))
def test_every_reading_verb_prints_json(name: str) -> None:
    assert "--json" in flags_of(COMMANDS[name])


@pytest.mark.parametrize("name", NARROWING)
def test_what_may_be_much_can_be_narrowed(name: str) -> None:
    assert NARROWING[name] <= flags_of(COMMANDS[name])


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_an_example(name: str) -> None:
    epilog = COMMANDS[name].epilog or ""
    assert epilog.startswith("Example: touchstone ")
    assert f"touchstone {name}" in epilog
