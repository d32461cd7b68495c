"""A promotion on its way to a pull request: where it goes, the push, and the pull request or its link.

What is asked of the remote comes before anything is written, so a refusal leaves everything as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import click

from touchstone.cli.session import say
from touchstone.errors import RefusedError
from touchstone.forge import FORGES, ForgeError, Place, WantedPull
from touchstone.git import Committed, Credential, RemoteHeads, Repository
from touchstone.render.plain import visible

TOKEN_NAMES = ("GITHUB_TOKEN", "GH_TOKEN")


@dataclass(frozen=True)
class Route:
    """Where a promotion goes: from `start`, a ref here, by `branch` into the remote's `into`."""

    repository: Repository
    remote: RemoteHeads
    branch: str
    into: str
    start: str
    place: Place | None
    token: str | None
    credential: Credential | None


def route_of(
    repository: Repository, branch_into: Callable[[str | None], str], environ: Mapping[str, str]
) -> Route:
    """Ask the remote where a promotion goes, and bring what it is built on up to date.

    On a feature branch it goes into that branch, else into the default branch; `branch_into` names its own
    branch, of the feature branch or of None. Raises RefusedError where there is no such way.
    """
    url = repository.remote_url()
    place, token = _place_of(url, environ), _token(environ)
    credential = credential_for(url, place, token)
    current = repository.branch()
    known = [name for name in (current, repository.default_branch()) if name]
    wanted = [f"{branch_into(name)}*" for name in {None, current}]
    remote = repository.remote_heads(*known, *wanted, credential=credential)
    default = remote.default or repository.default_branch()
    on_feature = current is not None and current != default
    into = current if on_feature else default
    branch = branch_into(current if on_feature else None)
    _require_branch(into, remote)
    repository.fetch_heads(remote, str(into), branch, credential=credential)
    tracked = f"refs/remotes/{remote.name}/{into}"
    if on_feature and not repository.is_ancestor("HEAD", tracked):
        raise RefusedError(
            f"branch {into} here holds commits that {remote.name} does not have; they would ride along",
            f"Push them first: git push {remote.name} {into} (or commit right on it: --here)",
        )
    start = "HEAD" if on_feature else tracked
    return Route(repository, remote, branch, str(into), start, place, token, credential)


def propose(route: Route, committed: Committed, title: str, body: str, *, draft: bool) -> None:
    """Push the branch and open its pull request, or bring the open one up to date.

    Where the forge does not let us, the link to do it by hand is as good: nothing of this is a failure.
    Raises RefusedError where the push is not taken.
    """
    try:
        route.repository.push(committed, route.remote, credential=route.credential)
    except RefusedError as error:
        raise RefusedError(error.message, _after_refused_push(route, committed)) from None
    click.echo(f"pushed {committed.branch} to {route.remote.name}")
    if route.place is None:
        click.echo(f"  → Open a pull request of {committed.branch} into {route.into} there.")
        return
    forge = FORGES["github"](route.place, route.token)
    wanted = WantedPull(committed.branch, route.into, title, body, draft)
    try:
        _require_token(route.token)
        opened = forge.open_or_update_pull(wanted)
    except ForgeError as error:
        say(error.message)
        if error.hint:
            say(f"  → {error.hint}")
        click.echo(f"  → Open the pull request: {forge.compare_link(route.into, committed.branch)}")
        return
    told = {"created": "opened", "updated": "updated", "text_kept": "updated, its text left as it was"}
    click.echo(
        visible(f"pull request #{opened.number} into {route.into} {told[opened.outcome]}: {opened.url}")
    )


def credential_for(url: str | None, place: Place | None, token: str | None) -> Credential | None:
    """The token for git, where the remote is that forge's by https; any other remote never sees it."""
    parts = urlsplit(url or "")
    if place is None or token is None or parts.scheme != "https" or parts.hostname is None:
        return None
    if parts.hostname != urlsplit(place.server_url).hostname:
        return None
    return Credential(f"https://{parts.netloc.rpartition('@')[2]}/", token)


def _place_of(url: str | None, environ: Mapping[str, str]) -> Place | None:
    from touchstone.forge.github import place_of  # noqa: PLC0415  loads the HTTP client

    return place_of(url, environ)


def _token(environ: Mapping[str, str]) -> str | None:
    return next((environ[name] for name in TOKEN_NAMES if environ.get(name)), None)


def _require_token(token: str | None) -> None:
    if token is None:
        raise ForgeError(
            "rejected",
            "no token in the environment, so the pull request is yours to open",
            f"Next time: {' or '.join(TOKEN_NAMES)}, with the right to write pull requests",
        )


def _require_branch(into: str | None, remote: RemoteHeads) -> None:
    if into is None:
        raise RefusedError(
            f"{remote.name} names no default branch, and HEAD is detached",
            "Check out the branch the promotion is for, or keep it here: --no-pr",
        )
    if into not in remote.tips:
        raise RefusedError(
            f"branch {into} is not on {remote.name}, so no pull request can go into it",
            f"Push it first: git push -u {remote.name} {into} (or commit right on it: --here)",
        )


def _after_refused_push(route: Route, committed: Committed) -> str:
    return (
        f"The commit is kept here, on branch {committed.branch}. Settle what the remote names, then push it: "
        f"git push {route.remote.name} {committed.branch}, or promote again."
    )
