"""The demo's files, and the edit its story turns on."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest

from touchstone.demo.scaffold import shipped_text, shortened, write_scaffold
from touchstone.errors import BadInputError

ROOT = Path(__file__).parents[2]


def test_scaffold_is_the_shipped_pack_its_prompt_and_settings(tmp_path: Path) -> None:
    paths = write_scaffold(tmp_path / "story", "http://127.0.0.1:1/v1", "some-model")
    assert paths == [".gitignore", "packs/starter.yaml", "prompts/assistant.md", "touchstone.yaml"]
    for path in ("packs/starter.yaml", "prompts/assistant.md"):
        ours = (
            (ROOT / path).read_text().removeprefix("# yaml-language-server: $schema=../schemas/pack.json\n")
        )
        assert (tmp_path / "story" / path).read_text() == ours, "no schema file lies there"
    settings = (tmp_path / "story" / "touchstone.yaml").read_text()
    assert "base_url: http://127.0.0.1:1/v1" in settings
    assert "id: some-model" in settings


def test_scaffold_writes_over_nothing(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BadInputError, match="is not an empty folder"):
        write_scaffold(tmp_path, "http://127.0.0.1:1/v1", "some-model")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_the_edit_is_three_lines_and_keeps_every_figure() -> None:
    before = shipped_text("assistant.md")
    after = shortened(before)
    changed = [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]
    assert len(changed) == 3
    assert sorted(re.findall(r"[\d:-]*\d", before)) == sorted(re.findall(r"[\d:-]*\d", after))


def test_the_edit_of_another_prompt_is_refused() -> None:
    with pytest.raises(BadInputError, match="not the demo's prompt"):
        shortened("Be brief.\n")
