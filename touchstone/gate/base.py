"""The base of a change: the commit whose baselines, thresholds and settings count. Never the working tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from touchstone.errors import BadInputError, RefusedError
from touchstone.gate.event import Event
from touchstone.git import Repository

Found = Literal["merged_into", "event", "queue", "before", "merge_base", "itself", "named"]
"""How: the first parent of the merge that is checked out, the commit the event names (a pull request's, a
queue's, the one before a push), where a new branch parted, the checked out commit itself, or as told."""

Fetch = Callable[[str], None]
"""Brings a commit here, by its id or a refspec; RefusedError where the remote does not give it."""

_WAY_OUT = "Check out with `fetch-depth: 0`, or name a commit that is here: baseline-from"


@dataclass(frozen=True)
class Base:
    """The commit, how it was found, and the commit that is checked out."""

    commit: str
    found: Found
    tested: str


def base_of(event: Event, repository: Repository, fetch: Fetch, named: str | None = None) -> Base:
    """The base of an event, in this repository and readable; `named` is a reference that goes before.

    BadInputError where it cannot be told or read: a check that does not know its base says so.
    """
    tested = repository.resolve("HEAD")
    wanted, found = _wanted(event, repository, tested, fetch) if named is None else _as_told(named)
    commit = repository.commit_of(wanted)
    if commit is None:
        _bring(wanted, fetch)
        commit = repository.resolve(wanted)
    return Base(commit, found, tested)


def _as_told(named: str) -> tuple[str, Found]:
    return named, "named"


def _wanted(event: Event, repository: Repository, tested: str, fetch: Fetch) -> tuple[str, Found]:
    if event.kind in {"workflow_dispatch", "schedule"}:
        return tested, "itself"
    if event.base is None:
        raise BadInputError(
            f"on the event {event.name} nothing tells which commit was agreed to",
            "Name it: baseline-from",
        )
    if event.kind == "pull_request":
        parents = repository.parents(tested)
        if len(parents) == 2 and parents[1] == event.head:
            return parents[0], "merged_into"
        return event.base, "event"
    if event.is_new_branch:
        return _parting(event, repository, tested, fetch), "merge_base"
    return event.base, "queue" if event.kind == "merge_group" else "before"


def _parting(event: Event, repository: Repository, tested: str, fetch: Fetch) -> str:
    """Where a branch that is new to the forge parted from the default branch."""
    if event.default_branch is None:
        raise BadInputError("the event names no default branch", "Name the base: baseline-from")
    default = f"refs/remotes/{repository.remote()}/{event.default_branch}"
    if repository.commit_of(default) is None:
        _bring(f"+refs/heads/{event.default_branch}:{default}", fetch)
    try:
        base = repository.merge_base(tested, default)
    except BadInputError as error:
        raise BadInputError(error.message, _WAY_OUT) from None
    if base is None:
        raise BadInputError(
            f"this branch shares no commit with {event.default_branch}", "Name the base: baseline-from"
        )
    return base


def _bring(what: str, fetch: Fetch) -> None:
    try:
        fetch(what)
    except RefusedError as error:
        raise BadInputError(
            f"the base {what} is not in this clone, and the remote did not give it: {error.message}", _WAY_OUT
        ) from None
