"""A job on a GitHub runner: what it finds in its environment, and where it leaves its outputs and summary.

The token is taken out of the environment here, so that no process started later can see it.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from touchstone.cli.session import say
from touchstone.errors import BadInputError, UsageError
from touchstone.files import parse_json, read_bytes
from touchstone.forge import Place

TOKEN_NAMES = ("GITHUB_TOKEN", "GH_TOKEN")

_PAYLOAD = (
    "GITHUB_EVENT_PATH must lead to the event as GitHub wrote it: run the job again, or mend the runner."
)


@dataclass(frozen=True)
class Job:
    """One job. `token` and `place` are null where it may not, or cannot, speak to its forge."""

    event: str
    event_path: Path | None
    run_id: int
    attempt: int
    place: Place | None
    token: str | None = field(repr=False)
    output: Path | None
    summary: Path | None
    workspace: Path
    keeps: Path | None
    """A folder that outlives the job, where the runner has one."""
    self_hosted: bool

    def payload(self) -> Mapping[str, Any]:
        """What the forge wrote of the event; empty where it wrote nothing."""
        if self.event_path is None:
            return {}
        try:
            value = parse_json(read_bytes(self.event_path), str(self.event_path))
        except BadInputError as error:
            raise BadInputError(error.message, _PAYLOAD) from None
        return value if isinstance(value, dict) else {}

    @property
    def run_url(self) -> str | None:
        """The page of this attempt."""
        if self.place is None:
            return None
        run = f"{self.place.server_url.rstrip('/')}/{self.place.repository}/actions/runs/{self.run_id}"
        return f"{run}/attempts/{self.attempt}" if self.attempt > 1 else run

    @property
    def runs_dir(self) -> Path | None:
        """Where runs outlive the next checkout, each repository's apart."""
        if self.keeps is None:
            return None
        named = self.place.repository.replace("/", "-").lower() if self.place is not None else "runs"
        return self.keeps / "touchstone" / "runs" / named


def take_job(environ: MutableMapping[str, str]) -> Job:
    """The job this environment belongs to, its tokens taken out. UsageError outside a job."""
    from touchstone.forge.github import place_of  # noqa: PLC0415  loads the HTTP client

    if not environ.get("GITHUB_EVENT_NAME"):
        raise UsageError(
            "--ci github reads what a job of GitHub Actions has in its environment, and GITHUB_EVENT_NAME is "
            "not set",
            "On your own machine: touchstone check",
        )
    tokens = [environ.pop(name, "") for name in TOKEN_NAMES]
    keeps = environ.get("RUNNER_TOOL_CACHE") or environ.get("RUNNER_TEMP")
    return Job(
        event=environ["GITHUB_EVENT_NAME"],
        event_path=_path(environ, "GITHUB_EVENT_PATH"),
        run_id=_number(environ, "GITHUB_RUN_ID"),
        attempt=_number(environ, "GITHUB_RUN_ATTEMPT"),
        place=place_of(None, environ),
        token=next(filter(None, tokens), None),
        output=_path(environ, "GITHUB_OUTPUT"),
        summary=_path(environ, "GITHUB_STEP_SUMMARY"),
        workspace=_path(environ, "GITHUB_WORKSPACE") or Path.cwd(),
        keeps=Path(keeps) if keeps else None,
        # A runner that does not say is taken for somebody's own machine.
        self_hosted=environ.get("RUNNER_ENVIRONMENT") != "github-hosted",
    )


def write_outputs(path: Path | None, outputs: Mapping[str, str]) -> None:
    """Add outputs to the job's file, each within a mark that no value can guess."""
    if path is None:
        return
    parts = []
    for name, value in outputs.items():
        mark = f"touchstone_{secrets.token_hex(16)}"
        parts.append(f"{name}<<{mark}\n{value}\n{mark}\n")
    _append(path, "".join(parts))


def write_summary(path: Path | None, text: str) -> None:
    """Add to the step's summary."""
    if path is not None:
        _append(path, text)


@contextmanager
def commands_stopped() -> Iterator[None]:
    """Let the runner take no line for a command while the block lasts, however it ends.

    What is printed meanwhile comes from models and pull requests. The lines of later steps are the
    runner's to read again, so whatever may fail is to be said within the block.
    """
    mark = secrets.token_hex(16)
    click.echo(f"::stop-commands::{mark}")
    sys.stdout.flush()
    try:
        yield
    finally:
        sys.stderr.flush()
        click.echo(f"::{mark}::")
        sys.stdout.flush()


def _append(path: Path, text: str) -> None:
    """A file of the runner's that cannot be written changes no verdict; it is said."""
    try:
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        say(f"touchstone: {path}: cannot be written: {error.strerror or error}")
        say("  → The verdict stands, and the job's later steps do not learn of it. Mend the runner.")


def _path(environ: Mapping[str, str], name: str) -> Path | None:
    value = environ.get(name)
    return Path(value) if value else None


def _number(environ: Mapping[str, str], name: str) -> int:
    value = environ.get(name, "")
    return int(value) if value.isascii() and value.isdigit() else 1
