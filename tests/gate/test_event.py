"""What an event tells, and what it is refused for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit.fake_github import REPOSITORY
from tests.kit.runner import Pull
from touchstone.errors import BadInputError, RefusedError
from touchstone.gate.event import Event, read_event

HEAD, BASE = "a" * 40, "b" * 40
PULL = Pull(HEAD, BASE, "c" * 40)


def test_a_pull_request_names_its_number_head_and_base() -> None:
    event = read_event("pull_request", PULL.event().payload)
    assert event == Event("pull_request", "pull_request", 7, HEAD, BASE, "main", from_fork=False)


@pytest.mark.parametrize("head", ["somebody/desk", None], ids=["fork", "deleted-fork"])
def test_a_fork_is_known_even_when_it_is_gone(head: str | None) -> None:
    assert read_event("pull_request", PULL.event(head_repository=head).payload).from_fork


def test_upper_and_lower_case_name_one_repository() -> None:
    payload = PULL.event(head_repository=REPOSITORY.upper()).payload
    assert not read_event("pull_request", payload).from_fork


def test_a_merge_queue_names_its_own_commits() -> None:
    event = read_event("merge_group", {"merge_group": {"head_sha": HEAD, "base_sha": BASE}})
    assert (event.kind, event.head, event.base, event.number) == ("merge_group", HEAD, BASE, None)


def test_a_push_names_the_commit_before() -> None:
    event = read_event("push", {"before": BASE, "after": HEAD})
    assert (event.kind, event.head, event.base, event.is_new_branch) == ("push", HEAD, BASE, False)


def test_a_new_branch_has_nothing_before() -> None:
    assert read_event("push", {"before": "0" * 40, "after": HEAD}).is_new_branch


@pytest.mark.parametrize("name", ["workflow_dispatch", "schedule"])
def test_what_is_no_change_names_nothing(name: str) -> None:
    event = read_event(name, {"repository": {"default_branch": "main"}})
    assert (event.kind, event.base, event.number) == (name, None, None)


def test_pull_request_target_is_refused_with_the_way_out() -> None:
    with pytest.raises(RefusedError, match="pull_request_target") as refused:
        read_event("pull_request_target", PULL.event().payload)
    assert "on: pull_request" in str(refused.value.hint)


@pytest.mark.parametrize(
    ("name", "payload", "place"),
    [
        ("pull_request", {}, "pull_request.number"),
        ("pull_request", {"pull_request": {"number": True}}, "pull_request.number"),
        ("pull_request", {"pull_request": {"number": 7}}, "pull_request.base.repo.full_name"),
        ("merge_group", {"merge_group": []}, "merge_group.head_sha"),
        ("push", {"before": 7}, "before"),
    ],
)
def test_a_payload_without_what_it_needs_is_refused_by_name(
    name: str, payload: dict[str, Any], place: str
) -> None:
    with pytest.raises(BadInputError, match=place):
        read_event(name, payload)
