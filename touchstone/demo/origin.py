"""Where this touchstone was installed from, as far as that is recorded: workflows and hooks name it."""

from __future__ import annotations

import json
import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from touchstone.errors import TouchstoneError
from touchstone.git import Repository

PACKAGE = "touchstone-baseline"


class Origin(NamedTuple):
    """A git address and a commit there; null where neither the installer nor a clone tells it."""

    address: str | None
    commit: str | None


NOWHERE = Origin(None, None)

_ADDRESS = re.compile(r"(?:(?:https?|ssh)://[\w.@:-]+/|[\w.-]+@[\w.-]+:)[\w./~+-]+", re.ASCII)
_LOCAL = re.compile(r"file:///[\w./~+%-]+", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def installed_from() -> Origin:
    """The origin of the package that is running."""
    try:
        record = distribution(PACKAGE).read_text("direct_url.json")
    except PackageNotFoundError:
        record = None
    return origin_of(record)


def origin_of(record: str | None) -> Origin:
    """What an installer's record (`direct_url.json`) tells of: a git address, or a folder cloned from one."""
    try:
        told = json.loads(record or "{}")
        url, vcs = str(told.get("url", "")), told.get("vcs_info") or {}
    except (ValueError, AttributeError):
        return NOWHERE
    parts = urlsplit(url)
    if vcs.get("vcs") == "git":
        return checked_origin(url, vcs.get("commit_id"))
    return _clone_at(Path(unquote(parts.path))) if parts.scheme == "file" else NOWHERE


def checked_origin(address: str | None, commit: str | None, *, on_this_machine: bool = False) -> Origin:
    """An origin that may stand in a committed file: an address others can reach too, a whole commit id.

    `on_this_machine`: an address that only this machine has will do as well; a person says it.
    """
    known = address and (_ADDRESS.fullmatch(address) or (on_this_machine and _LOCAL.fullmatch(address)))
    reachable = _without_user(address) if address and known else None
    return Origin(reachable, commit if commit and _COMMIT.fullmatch(commit) else None)


def _clone_at(folder: Path) -> Origin:
    try:
        repository = Repository.open(folder) if folder.is_dir() else None
        if repository is None or repository.root.resolve() != folder.resolve():
            return NOWHERE
        return checked_origin(repository.remote_url(), repository.head())
    except TouchstoneError:
        return NOWHERE


def _without_user(url: str) -> str:
    """The address without a name and password before the host."""
    scheme, separator, rest = url.partition("://")
    if scheme not in {"http", "https"} or not separator:
        return url
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
