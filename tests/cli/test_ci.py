"""The check of a pull request, from the event to the comment, on a GitHub on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer
from tests.kit.fake_github import FakeGitHub
from tests.kit.runner import NUMBER, Home, Runner
from tests.kit.scratch import ScratchRepo
from touchstone.errors import ExitCode

WORSE_PROMPT = desk.PROMPT.replace("carefully", "at once")


@pytest.fixture(scope="module")
def agreed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScratchRepo]:
    with ChatServer(desk.Mind(), models=(desk.MODEL, desk.JUDGE)) as server:
        yield desk.agreed(tmp_path_factory.mktemp("agreed") / "project", server.base_url)


@pytest.fixture
def home(agreed: ScratchRepo, tmp_path: Path) -> Home:
    return Home(agreed, tmp_path)


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as running:
        running.pull(NUMBER)
        yield running


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], github: FakeGitHub) -> Runner:
    return Runner(monkeypatch, capsys, github)


def test_a_prompt_that_hurts_is_told_everywhere_and_fails_the_job(
    home: Home, runner: Runner, github: FakeGitHub
) -> None:
    pull = home.pull_request({"prompts/house.md": WORSE_PROMPT})
    done = runner.run(home.checkout(pull.merge, depth=2), pull.event())
    assert done.code == ExitCode.WORSE
