"""GitHub: what a token may do in a repository."""

from __future__ import annotations

import re
from typing import Any, Literal

import httpx

from touchstone import __version__

API_URL = "https://api.github.com"
TIMEOUT_S = 10.0

Rights = Literal["write", "read_only", "not_told", "rejected", "no_access", "unreachable"]
"""`not_told`: GitHub does not list the rights of a token of this kind. `no_access`: the repository does not
exist for this token."""

_REMOTE = re.compile(r"^(?:\w+://)?(?:[^/@]*@)?([^/:]+)(?::\d+)?[/:]([\w.-]+)/([\w.-]+?)(?:\.git)?/?$")


def token_rights(api_url: str, repository: str, token: str) -> Rights:
    """Ask for `owner/name` with the token; never raises. No redirect is followed: a token stays where it is
    sent to.
    """
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {token}",
        "User-Agent": f"touchstone/{__version__}",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    try:
        answer = httpx.get(f"{api_url.rstrip('/')}/repos/{repository}", headers=headers, timeout=TIMEOUT_S)
        return _rights(answer)
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, ValueError):
        return "unreachable"


def repository_of(remote_url: str) -> tuple[str, str] | None:
    """(host, `owner/name`) of a remote's address, in any of git's forms; None for a path or another shape."""
    found = _REMOTE.match(remote_url.strip())
    return (found[1].lower(), f"{found[2]}/{found[3]}") if found else None


def _rights(answer: httpx.Response) -> Rights:
    if answer.status_code == 401:
        return "rejected"
    if answer.status_code in {403, 404}:
        return "no_access"
    if answer.status_code != 200:
        return "unreachable" if answer.status_code >= 500 else "not_told"
    return _told(answer.json())


def _told(body: Any) -> Rights:
    """An app's token can read and yet is told that it may not even pull: then nothing was told."""
    permissions = body.get("permissions") if isinstance(body, dict) else None
    if not isinstance(permissions, dict) or permissions.get("pull") is not True:
        return "not_told"
    return "write" if permissions.get("push") is True else "read_only"
