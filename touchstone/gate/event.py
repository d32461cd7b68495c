"""What started a run on a forge: a pull request, a merge queue, a push, a person, a clock.

The payload is what the forge wrote; what is missing in it is refused, never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from touchstone.errors import BadInputError, RefusedError

EventKind = Literal["pull_request", "merge_group", "push", "workflow_dispatch", "schedule", "other"]

_OF_NO_CHANGE: dict[str, EventKind] = {"workflow_dispatch": "workflow_dispatch", "schedule": "schedule"}

_SPLIT = (
    "docs/how-to/github-action.md shows how a comment is written without handing a stranger's code a token."
)


@dataclass(frozen=True)
class Event:
    """One event. `base` is the commit it names as the one changed from; null where it names none.

    `number` is the pull request's, `default_branch` the repository's. `from_fork`: the code under test
    comes from somebody else's repository.
    """

    kind: EventKind
    name: str
    number: int | None = None
    head: str | None = None
    base: str | None = None
    default_branch: str | None = None
    from_fork: bool = False

    @property
    def is_new_branch(self) -> bool:
        """A push that names no commit before it."""
        return self.kind == "push" and self.base is not None and not self.base.strip("0")


def read_event(name: str, payload: Mapping[str, Any]) -> Event:
    """The event of that name. RefusedError for one that hands a stranger's code this repository's token."""
    if name == "pull_request_target":
        raise RefusedError(
            "touchstone does not run on pull_request_target: it would hand the code of a pull request this "
            "repository's token",
            f"Use `on: pull_request`. {_SPLIT}",
        )
    default = _text(payload, "repository", "default_branch", required=False)
    if name == "pull_request":
        return _pull_request(payload, default)
    if name == "merge_group":
        head, base = _text(payload, name, "head_sha"), _text(payload, name, "base_sha")
        return Event("merge_group", name, head=head, base=base, default_branch=default)
    if name == "push":
        head, base = _text(payload, "after", required=False), _text(payload, "before")
        return Event("push", name, head=head, base=base, default_branch=default)
    return Event(_OF_NO_CHANGE.get(name, "other"), name, default_branch=default)


def _pull_request(payload: Mapping[str, Any], default: str | None) -> Event:
    pull = payload.get("pull_request")
    number = pull.get("number") if isinstance(pull, Mapping) else None
    if not isinstance(number, int) or isinstance(number, bool):
        raise _unusable("pull_request.number")
    head = _text(payload, "pull_request", "head", "repo", "full_name", required=False)
    home = _text(payload, "pull_request", "base", "repo", "full_name")
    return Event(
        "pull_request",
        "pull_request",
        number=number,
        head=_text(payload, "pull_request", "head", "sha"),
        base=_text(payload, "pull_request", "base", "sha"),
        default_branch=default,
        # A fork that was deleted meanwhile has no name left.
        from_fork=head is None or head.lower() != (home or "").lower(),
    )


def _text(payload: Mapping[str, Any], *path: str, required: bool = True) -> str | None:
    value: Any = payload
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    if isinstance(value, str) and value:
        return value
    if required:
        raise _unusable(".".join(path))
    return None


def _unusable(place: str) -> BadInputError:
    return BadInputError(
        f"the event's payload has no usable {place}",
        "GITHUB_EVENT_PATH must lead to the payload as GitHub wrote it.",
    )
