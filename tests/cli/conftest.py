from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer
from tests.kit.fake_github import FakeGitHub
from tests.kit.runner import NUMBER, Files, Home, Runner
from tests.kit.scratch import ScratchRepo, clone


@pytest.fixture
def mind() -> desk.Mind:
    return desk.Mind()


@pytest.fixture
def server(mind: desk.Mind) -> Iterator[ChatServer]:
    with ChatServer(mind, models=(desk.MODEL, desk.JUDGE)) as running:
        yield running


@pytest.fixture
def repo(tmp_path: Path, server: ChatServer) -> ScratchRepo:
    return desk.project(tmp_path / "project", server.base_url)


# --- a job of GitHub Actions -------------------------------------------------------------------------


@pytest.fixture(scope="session")
def desk_server() -> Iterator[ChatServer]:
    """A model that answers by its system prompt alone, for all tests."""
    with ChatServer(desk.Mind(), models=(desk.MODEL, desk.JUDGE)) as running:
        yield running


@pytest.fixture(scope="session")
def agreed(desk_server: ChatServer, tmp_path_factory: pytest.TempPathFactory) -> ScratchRepo:
    """A project with an agreed baseline; tests work on clones of it."""
    return desk.agreed(tmp_path_factory.mktemp("agreed") / "project", desk_server.base_url)


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


@pytest.fixture(scope="session")
def promotions(agreed: ScratchRepo, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Files]:
    """Baseline files of promotions made on top of the agreed project: `worse`, `other`, `same`."""
    made: dict[str, Files] = {}
    for name, prompt, reason in (
        ("worse", desk.WORSE_PROMPT, desk.REASON),
        ("other", desk.OTHER_PROMPT, None),
        ("same", desk.PROMPT, "measured anew"),
    ):
        copy = clone(agreed, tmp_path_factory.mktemp(name) / "copy")
        copy.write("prompts/house.md", prompt)
        made[name] = desk.promote(copy, *(["--reason", reason] if reason else []))
    return made
