"""The front door: the verbs in their groups, each loaded only when it is called."""

from __future__ import annotations

import importlib
from typing import NamedTuple

import click

from touchstone import __version__
from touchstone.errors import EXIT_MEANINGS


class Verb(NamedTuple):
    """A verb's group in `--help` and its one line."""

    group: str
    line: str


VERBS: dict[str, Verb] = {
    "init": Verb("start", "Settings, a pack, workflows and hooks for a project; overwrites nothing."),
    "demo": Verb("start", "The whole story in a scratch repository, on a real model."),
    "doctor": Verb("start", "Is everything there that a run needs? One line each, with the remedy."),
    "engine": Verb("start", "Start, stop and look at the embedded engine."),
    "check": Verb("daily", "Did this change make the answers worse? The pull request's question."),
    "promote": Verb("daily", "Make runs the baseline."),
    "show": Verb("daily", "One row in full, or a baseline's prompt exactly as it was."),
    "history": Verb("daily", "What was agreed to, commit by commit."),
    "measure": Verb("phases", "Ask and judge: eval and judge in one go."),
    "eval": Verb("phases", "Ask every prompt of a pack and keep every answer."),
    "judge": Verb("phases", "Score the kept answers of a run."),
    "compare": Verb("phases", "A run beside its baseline, or two runs; files only."),
    "select": Verb("phases", "Pick the typical run of three."),
    "report": Verb("phases", "A run's result as a text to read."),
    "validate": Verb("upkeep", "Check packs, settings and baselines, offline."),
    "list": Verb("upkeep", "The packs, baselines and runs there are."),
    "aggregate": Verb("upkeep", "Many runs in one table per pack, a column per judge; nothing is ranked."),
    "merge": Verb("upkeep", "Shards of a run, measured on several machines, as one run."),
    "schema": Verb("upkeep", "JSON Schemas of packs, settings, results, baselines, comparisons."),
    "rejudge": Verb("upkeep", "Stored answers under today's judge."),
    "config": Verb("upkeep", "The effective settings and where each comes from."),
}

GROUPS = ("start", "daily", "phases", "upkeep")


class VerbGroup(click.Group):
    """A click group that imports a verb's module when it is asked for."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Every verb, in the order of the table."""
        return list(VERBS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        """The verb's command, imported now."""
        if name not in VERBS:
            return None
        command = importlib.import_module(f"touchstone.cli.{name}").command
        assert isinstance(command, click.Command)  # noqa: S101  a verb's module that breaks the house rule
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs by group, then what the exit codes mean."""
        for group in GROUPS:
            rows = [(name, verb.line) for name, verb in VERBS.items() if verb.group == group]
            with formatter.section(group.capitalize()):
                formatter.write_dl(rows)
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(code)), meaning) for code, meaning in EXIT_MEANINGS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb; a misspelt one is answered with the nearest."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            near = _nearest_verb(args[0])
            ctx.fail(f"no verb {args[0]!r}." + (f" Did you mean {near!r}?" if near else ""))
        return super().resolve_command(ctx, args)


@click.group(
    cls=VerbGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: touchstone demo",
)
@click.version_option(__version__, prog_name="touchstone")
def touchstone() -> None:
    """Did this change make my model's answers worse than the ones we agreed to keep?"""


def _nearest_verb(word: str) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415  only for a wrong word

    begun = [name for name in VERBS if name.startswith(word)]
    return next(iter(begun or get_close_matches(word, VERBS, n=1)), None)
