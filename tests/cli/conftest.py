from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer
from tests.kit.scratch import ScratchRepo


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
