from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.chat_server import ChatServer
from tests.kit.scratch import ScratchRepo
from tests.packs.scripted import JUDGE, MODEL, Mind, project


@pytest.fixture
def mind() -> Mind:
    return Mind()


@pytest.fixture
def server(mind: Mind) -> Iterator[ChatServer]:
    with ChatServer(mind, models=(MODEL, JUDGE)) as running:
        yield running


@pytest.fixture
def repo(tmp_path: Path, server: ChatServer) -> ScratchRepo:
    return project(tmp_path / "project", server.base_url)
