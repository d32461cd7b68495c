"""`touchstone init`: the files a project starts with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from touchstone.cli.session import bench_for
from touchstone.config import Config, Effective, config_from_text, git_top
from touchstone.demo.origin import Origin, checked_origin, installed_from
from touchstone.demo.project import (
    CHECK_PATH,
    HOOKS_PATH,
    NO_SOURCE,
    PROMOTE_PATH,
    SETTINGS_PATH,
    Placed,
    Server,
    Source,
    exclusions,
    is_unfilled,
    place,
    project_texts,
)
from touchstone.demo.scaffold import PACK_PATH
from touchstone.errors import BadInputError, ExitCode, RefusedError, UsageError
from touchstone.files import read_bytes
from touchstone.forge.github import repository_of
from touchstone.gate.places import Answering, answering
from touchstone.git import Repository
from touchstone.render.plain import visible
from touchstone.yaml_source import ProblemsError

_COMMIT = "git add . && git commit -m 'touchstone: pack, prompt, settings'"
_ABOUT = {
    SETTINGS_PATH: "settings",
    PACK_PATH: "twelve questions to start from, scored without a judge",
    HOOKS_PATH: "hooks: packs at every commit, the check before a push",
    CHECK_PATH: "the check of every pull request",
    PROMOTE_PATH: "three runs and a promotion, started by hand",
}


@click.command(epilog="Example: touchstone init --base-url http://127.0.0.1:1234/v1 --model my-model")
@click.option("--base-url", help="The model server (default: what answers on the usual ports).")
@click.option("--model", "models", multiple=True, metavar="MODEL", help="A model to test; repeatable.")
@click.option(
    "--shards",
    type=click.IntRange(1, 64),
    default=1,
    metavar="N",
    help="So many Macs share the check of a pull request (default: 1).",
)
@click.option(
    "--source",
    metavar="ADDRESS@COMMIT",
    help="Where workflows and hooks get touchstone: a git address and a whole commit id (default: where this "
    "one came from, if that is an address others reach).",
)
@click.option("--quiet", "-q", is_flag=True, help="Say nothing of what was written; faults are always told.")
def command(
    *, base_url: str | None, models: tuple[str, ...], shards: int, source: str | None, quiet: bool
) -> int:
    """Write what a project starts with: settings, a pack, workflows, hooks, a line of .gitattributes.

    At the top of the git repository, else here. Nothing that is there is changed: what it lacks is printed.
    The usual ports of this machine are asked which models they serve, and nothing else is contacted.
    """
    root = git_top(Path.cwd()) or Path.cwd()
    origin = _origin_of(source) if source else installed_from()
    supply = Source(origin, _action_of(origin, root))
    found = [] if (root / SETTINGS_PATH).exists() else _answering(root, base_url)
    placed = place(root, project_texts(_server(base_url, models, found), supply, shards))
    lines = [f"in {root}", *_told(placed), *_exclusions(root), *_next(placed, found, root)]
    barred = [one.path for one in placed if one.state == "barred"]
    if not quiet or barred:
        click.echo(visible("\n".join(lines)))
    if barred:
        raise RefusedError(
            f"not written: {', '.join(barred)}",
            "Move away what stands in their place, or mend the rights, then: touchstone init",
        )
    return ExitCode.NOTHING_WORSE


def _origin_of(source: str) -> Origin:
    address, _, commit = source.rpartition("@")
    origin = checked_origin(address, commit, on_this_machine=True)
    if None in origin:
        raise UsageError(
            f"--source {source}: not an address and a whole commit id",
            "Write it like https://github.com/OWNER/touchstone@COMMIT (git rev-parse HEAD gives one), "
            "or file:///where/the/clone/lies@COMMIT as long as nobody else uses the files.",
        )
    return origin


def _action_of(origin: Origin, root: Path) -> str | None:
    """`owner/name` where workflows of this project's forge can name it: there, or on github.com."""
    named = repository_of(origin.address or "")
    repository = Repository.open(root)
    own = repository_of((repository.remote_url() if repository else None) or "")
    hosts = {"github.com", own[0] if own else "github.com"}
    return named[1] if named and named[0] in hosts else None


def _answering(root: Path, base_url: str | None) -> list[Answering]:
    """What answers at the address named, which is checked like the setting it becomes, else nearby."""
    overrides = {"endpoint.base_url": (base_url, "--base-url")} if base_url else {}
    try:
        config_from_text("schema: 1\n", SETTINGS_PATH, root, overrides)
    except ProblemsError as error:
        raise UsageError(error.message, error.hint) from None
    with bench_for(Effective(Config(), {}, None, root, []), {"quiet": True}) as bench:
        return answering(bench, [base_url] if base_url else None)


def _server(base_url: str | None, models: Sequence[str], found: Sequence[Answering]) -> Server:
    """The named server or the first that answers, and its models: those that answer questions first."""
    first = found[0] if found else None
    listed = sorted(first.models, key=lambda name: "embed" in name.lower()) if first else []
    return Server(base_url or (first.url if first else None), tuple(models or listed))


def _told(placed: Sequence[Placed]) -> list[str]:
    """One line per file; what a file lacks stands under it."""
    lines, width = list[str](), max(len(one.path) for one in placed)
    for one in placed:
        about = _ABOUT.get(one.path, "") if one.state == "written" else ""
        lines.append(f"{_STATES[one.state]}  {one.path:{width}}  {about}".rstrip())
        lines += [f"            {line}" for line in one.add.splitlines()]
    return lines


_STATES = {
    "written": "written ",
    "kept": "kept    ",
    "lacking": "add to  ",
    "left_out": "left out",
    "barred": "barred  ",
}


def _exclusions(root: Path) -> list[str]:
    told = exclusions(root)
    return (
        ["", "formatters and scanners must leave baselines alone:", *(f"  {line}" for line in told)]
        if told
        else []
    )


def _names_no_model(root: Path) -> bool:
    """Whether the settings wait for a model; faulty ones are the doctor's to tell."""
    try:
        return not config_from_text(read_bytes(root / SETTINGS_PATH), SETTINGS_PATH, root).config.models
    except (OSError, BadInputError):
        return False


def _next(placed: Sequence[Placed], found: Sequence[Answering], root: Path) -> list[str]:
    states = {one.path: one.state for one in placed}
    steps = []
    if (states[SETTINGS_PATH] == "written" and not found) or _names_no_model(root):
        steps.append(f"start a model server, and name it and its model in {SETTINGS_PATH}")
    unfilled = [path for path in states if is_unfilled(root / path)]
    if unfilled:
        steps.append(
            f"put touchstone's address and commit for {NO_SOURCE} in: {', '.join(unfilled)} "
            "(or remove them and: touchstone init --source ADDRESS@COMMIT)"
        )
    steps += [
        "touchstone doctor",
        f"{_COMMIT} (what is measured before the first commit can never be promoted)",
        "touchstone measure --times 3, then: touchstone promote RUN RUN RUN (no remote yet: --here)",
        "pre-commit install --hook-type pre-commit --hook-type pre-push",
        "a self-hosted runner with the labels macOS and ARM64, for the workflows",
    ]
    if git_top(root) is None:
        steps.insert(0, "git init")
    return ["", "next:", *(f"  {number}. {step}" for number, step in enumerate(steps, start=1))]
