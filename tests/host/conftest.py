"""A Mac on PATH."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.fake_macos import FakeMac


@pytest.fixture
def mac(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeMac:
    """The commands of macOS come first on PATH."""
    fake = FakeMac(tmp_path / "mac")
    monkeypatch.setenv("PATH", fake.path())
    return fake
