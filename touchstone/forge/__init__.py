"""Door: where pull requests live.

A forge is a module here and a line in `FORGES`; what is asked of it is `Forge`. Importing this is light:
a forge's client is loaded when it is opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, Self
from urllib.parse import quote

from touchstone.errors import TouchstoneError

ForgeFault = Literal[
    "rejected", "read_only", "not_permitted", "locked", "not_found", "limited", "moved", "invalid",
    "unreachable",
]  # fmt: skip
"""`not_permitted`: a setting of the repository forbids it. `limited`: asked too often. `moved`: the
repository has another address now."""

PostOutcome = Literal["created", "updated", "newer_kept", "silent", "read_only", "locked", "not_posted"]
"""`newer_kept`: a comment of a later run stays. `silent`: there is none, and none was to be made."""

PullOutcome = Literal["created", "updated", "text_kept"]
"""`text_kept`: the pull request was there with a text of somebody else's, which stays."""


class ForgeError(TouchstoneError):
    """The forge did not do what was asked. `fault` says why; the token is in neither text."""

    def __init__(self, fault: ForgeFault, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Place:
    """A repository on a forge: the addresses of its pages and its API, and `owner/name`."""

    server_url: str
    api_url: str
    repository: str


@dataclass(frozen=True, slots=True)
class CommentMark:
    """What makes a comment ours: the key it is found by, and the run that wrote it, in a hidden first line.

    Of two runs the newer has the higher (run id, attempt).
    """

    tenant: str
    target: str | None
    name: str | None
    run_id: int
    attempt: int
    head_sha: str

    @property
    def key(self) -> str:
        """The line's beginning, the same for every run that shares the comment."""
        named = {"tenant": self.tenant, "target": self.target, "name": self.name}
        told = " ".join(f"{word}={quote(value or '', safe='')}" for word, value in named.items())
        return f"<!-- touchstone:comment {told} "

    @property
    def line(self) -> str:
        """The hidden line, first in the comment's body."""
        return f"{self.key}run={self.run_id} attempt={self.attempt} head={quote(self.head_sha, safe='')} -->"

    @property
    def age(self) -> tuple[int, int]:
        """(run id, attempt): the higher is the newer."""
        return self.run_id, self.attempt

    def written_in(self, body: str) -> Self | None:
        """The mark of a body that begins with this one's key; None for any other body."""
        if not body.startswith(self.key):
            return None
        found = _WRITTEN.match(body, len(self.key))
        run_id, attempt, head = (int(found[1]), int(found[2]), found[3]) if found else (0, 0, "")
        return type(self)(self.tenant, self.target, self.name, run_id, attempt, head)


_WRITTEN = re.compile(r"run=(\d{1,18}) attempt=(\d{1,9}) head=([0-9a-f]*) -->")


@dataclass(frozen=True, slots=True)
class KeptComment:
    """A comment of ours as it stands on a pull request."""

    mark: CommentMark
    body: str
    url: str


@dataclass(frozen=True, slots=True)
class Posted:
    """What became of a comment. `detail` and `hint` say why it was not posted, where it was not."""

    outcome: PostOutcome
    url: str | None
    detail: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class WantedPull:
    """A pull request of branch `head` into branch `base`. The body begins with a hidden line of ours."""

    head: str
    base: str
    title: str
    body: str
    draft: bool = False


@dataclass(frozen=True, slots=True)
class OpenedPull:
    """The pull request that now is open."""

    outcome: PullOutcome
    number: int
    url: str


class Forge(Protocol):
    """What is asked of a forge about one repository."""

    def own_comment(self, number: int, mark: CommentMark) -> KeptComment | None:
        """Our newest comment on a pull request. Raises ForgeError."""
        ...

    def upsert_comment(self, number: int, mark: CommentMark, body: str, *, create: bool = True) -> Posted:
        """Leave one comment of ours, `body` below the mark's line; never raises for what the forge does."""
        ...

    def open_or_update_pull(self, wanted: WantedPull) -> OpenedPull:
        """Open the pull request, or bring the open one of that branch up to date. Raises ForgeError."""
        ...

    def compare_link(self, base: str, head: str) -> str:
        """The page where a person opens that pull request by hand."""
        ...


def _github(place: Place, token: str | None) -> Forge:
    from touchstone.forge.github import GitHub  # noqa: PLC0415  loads the HTTP client

    return GitHub(place, token)


FORGES: dict[str, Callable[[Place, str | None], Forge]] = {"github": _github}
"""Every forge there is, and how to open it for a place with a token."""
