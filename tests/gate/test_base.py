"""The base of a change, in real checkouts: merge and head, shallow and whole, queue, push and new branch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.runner import Home
from tests.kit.scratch import ScratchRepo, isolate, scratch_repo
from touchstone.errors import BadInputError
from touchstone.gate.base import Base, base_of
from touchstone.gate.event import Event, read_event
from touchstone.git import Repository

ZERO = "0" * 40


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    isolate(monkeypatch, tmp_path / "home")
    repo = scratch_repo(tmp_path / "project")
    repo.commit("base", {"baseline": "agreed", "notes": "1"})
    return Home(repo, tmp_path)


def found(checkout: ScratchRepo, event: Event, named: str | None = None) -> Base:
    repository = Repository.open(checkout.path)
    assert repository is not None
    base = base_of(event, repository, repository.fetch_commit, named)
    assert repository.read(base.commit, "baseline") is not None
    return base


def content(checkout: ScratchRepo, base: Base) -> str:
    return checkout.git("show", f"{base.commit}:baseline")


@pytest.mark.parametrize("depth", [1, 2, 0])
def test_of_a_merge_it_is_the_first_parent(home: Home, depth: int) -> None:
    pull = home.pull_request({"baseline": "lowered"}, onto={"notes": "2"})
    checkout = home.checkout(pull.merge, depth=depth)
    base = found(checkout, read_event("pull_request", pull.event().payload))
    assert base == Base(pull.base, "merged_into", pull.merge)
    assert content(checkout, base) == "agreed"


def test_a_job_that_runs_again_keeps_to_the_merge_it_has(home: Home) -> None:
    pull = home.pull_request({"baseline": "lowered"})
    home.work.git("switch", "--quiet", "--detach", "origin/main")
    home.committed({"baseline": "agreed anew"})
    home.work.git("push", "--quiet", "origin", "HEAD:refs/heads/main")
    checkout = home.checkout(pull.merge)
    base = found(checkout, read_event("pull_request", pull.event().payload))
    assert content(checkout, base) == "agreed"


@pytest.mark.parametrize("depth", [1, 2, 0])
def test_of_a_head_checkout_it_is_the_commit_the_event_names(home: Home, depth: int) -> None:
    pull = home.pull_request({"baseline": "lowered"}, onto={"baseline": "agreed anew"})
    checkout = home.checkout(pull.head, depth=depth)
    base = found(checkout, read_event("pull_request", pull.event().payload))
    assert base == Base(pull.base, "event", pull.head)
    assert content(checkout, base) == "agreed anew"


@pytest.mark.parametrize("depth", [1, 2, 0])
def test_a_head_that_is_itself_a_merge_does_not_choose_its_base(home: Home, depth: int) -> None:
    lowered = home.pull_request({"baseline": "lowered"}).head
    home.work.git("switch", "--quiet", "--detach", "origin/main")
    other = home.committed({"notes": "3"})
    home.work.git("switch", "--quiet", "--detach", lowered)
    home.work.git("merge", "--quiet", "--no-ff", "-m", "a merge as head", other)
    head = home.work.head()
    home.work.git("push", "--quiet", "--force", "origin", "HEAD:refs/heads/edit")
    pull = home.pull_of(head)
    checkout = home.checkout(head, depth=depth)
    base = found(checkout, read_event("pull_request", pull.event().payload))
    assert base == Base(pull.base, "event", head)
    assert content(checkout, base) == "agreed"


@pytest.mark.parametrize("depth", [1, 0])
def test_of_a_merge_queue_it_is_the_groups_base(home: Home, depth: int) -> None:
    pull = home.pull_request({"baseline": "lowered"}, onto={"notes": "2"})
    group = {"merge_group": {"head_sha": pull.merge, "base_sha": pull.base}}
    base = found(home.checkout(pull.merge, depth=depth), read_event("merge_group", group))
    assert base == Base(pull.base, "queue", pull.merge)


def test_of_a_push_it_is_where_the_branch_stood(home: Home) -> None:
    pull = home.pull_request({"baseline": "lowered"})
    push = {"before": pull.base, "after": pull.head}
    base = found(home.checkout(pull.head), read_event("push", push))
    assert base == Base(pull.base, "before", pull.head)


def test_of_a_new_branch_it_is_where_it_parted(home: Home) -> None:
    pull = home.pull_request({"baseline": "lowered"}, onto={"baseline": "agreed anew"})
    push = {"before": ZERO, "after": pull.head, "repository": {"default_branch": "main"}}
    checkout = home.checkout(pull.head, depth=0)
    checkout.git("update-ref", "-d", "refs/remotes/origin/main")
    base = found(checkout, read_event("push", push))
    assert (base.found, content(checkout, base)) == ("merge_base", "agreed")


def test_a_new_branch_in_a_shallow_clone_is_an_error_and_no_guess(home: Home) -> None:
    pull = home.pull_request({"baseline": "lowered"}, onto={"notes": "2"})
    push = {"before": ZERO, "after": pull.head, "repository": {"default_branch": "main"}}
    with pytest.raises(BadInputError, match="shallow") as refused:
        found(home.checkout(pull.head), read_event("push", push))
    assert "fetch-depth: 0" in str(refused.value.hint)


@pytest.mark.parametrize("name", ["workflow_dispatch", "schedule"])
def test_what_is_no_change_is_its_own_base(home: Home, name: str) -> None:
    head = home.bare.git("rev-parse", "main").strip()
    assert found(home.checkout(head), read_event(name, {})) == Base(head, "itself", head)


def test_a_named_base_goes_before_and_is_fetched_by_its_id(home: Home) -> None:
    pull = home.pull_request({"baseline": "lowered"}, onto={"notes": "2"})
    base = found(home.checkout(pull.head), read_event("schedule", {}), named=pull.base)
    assert base == Base(pull.base, "named", pull.head)


def test_a_base_the_remote_does_not_give_is_an_error_that_names_it(home: Home) -> None:
    pull = home.pull_request({"baseline": "lowered"})
    push = {"before": "d" * 40, "after": pull.head}
    with pytest.raises(BadInputError, match="d" * 40) as refused:
        found(home.checkout(pull.head), read_event("push", push))
    assert "fetch-depth: 0" in str(refused.value.hint)


def test_an_event_that_names_no_base_asks_for_one(home: Home) -> None:
    pull = home.pull_request({"baseline": "lowered"})
    with pytest.raises(BadInputError, match="workflow_run") as refused:
        found(home.checkout(pull.head), read_event("workflow_run", {}))
    assert "baseline-from" in str(refused.value.hint)


def test_a_fetched_base_leaves_a_whole_clone_whole(home: Home) -> None:
    pull = home.pull_request({"baseline": "lowered"}, onto={"notes": "2"})
    checkout = home.checkout(pull.head, depth=0)
    checkout.git("update-ref", "-d", "refs/remotes/origin/main")
    found(checkout, read_event("pull_request", pull.event().payload))
    assert checkout.git("rev-parse", "--is-shallow-repository").strip() == "false"
