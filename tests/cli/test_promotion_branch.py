"""What a promotion touches in git: its own branch, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer
from tests.kit.cli import touchstone
from tests.kit.scratch import ScratchRepo, clone, scratch_repo
from touchstone.errors import ExitCode


@pytest.fixture
def shared(tmp_path: Path, server: ChatServer) -> tuple[ScratchRepo, ScratchRepo]:
    """A remote whose default branch takes no push, and a clone with three runs of a pack."""
    upstream = desk.project(tmp_path / "upstream", server.base_url)
    upstream.hook("update", 'if [ "$1" = refs/heads/main ]; then echo "main is protected" >&2; exit 1; fi')
    work = clone(upstream, tmp_path / "work")
    done = touchstone(work.path, "measure", "--pack", "desk", "--times", "3", "-q")
    assert done.code == ExitCode.NOTHING_WORSE, done.err
    return upstream, work


def refs(repo: ScratchRepo) -> dict[str, str]:
    told = repo.git("for-each-ref", "--format=%(refname) %(objectname)").split()
    return dict(zip(told[::2], told[1::2], strict=True))


def test_G15_a_promotion_touches_its_own_branch_alone(shared: tuple[ScratchRepo, ScratchRepo]) -> None:
    """`--no-pr`: nothing is pushed. That branch is all a person, or the forge, then pushes."""
    upstream, work = shared
    before = refs(work), refs(upstream)
    done = touchstone(work.path, "promote", *desk.run_ids(work), "--no-pr")
    assert done.code == ExitCode.NOTHING_WORSE, done.err
    after = refs(work)
    assert set(after) - set(before[0]) == {"refs/heads/touchstone/promote/default-desk"}
    assert {name: after[name] for name in before[0]} == before[0]
    assert refs(upstream) == before[1]
    work.git("push", "-q", "origin", "touchstone/promote/default-desk")
    assert refs(upstream)["refs/heads/main"] == before[1]["refs/heads/main"]


def test_G15_own_a_refusal_is_shown_once_and_leaves_nothing(shared: tuple[ScratchRepo, ScratchRepo]) -> None:
    upstream, work = shared
    work.hook("pre-commit", 'echo "baselines need a ticket" >&2; exit 1')
    before = refs(work), refs(upstream)
    done = touchstone(work.path, "promote", *desk.run_ids(work), "--no-pr")
    assert done.code == ExitCode.REFUSED
    assert (done.out + done.err).count("baselines need a ticket") == 1
    assert (refs(work), refs(upstream)) == before


def test_no_runs_in_an_empty_repository_promote_nothing(tmp_path: Path) -> None:
    repo = scratch_repo(tmp_path / "empty")
    done = touchstone(repo.path, "promote", "20260101T000000Z_desk_000000", "--no-pr")
    assert done.code == ExitCode.REFUSED
    assert "no such run" in done.err
