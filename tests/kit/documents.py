"""The documents as a test reads them: their fenced blocks, and the lines of commands in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    [path for path in ROOT.glob("*.md") if path.is_file()] + list((ROOT / "docs").rglob("*.md"))
)
"""Every document of the repository."""

_FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block: its document, the line it starts at, the word after the fence, its text."""

    path: Path
    line: int
    kind: str
    text: str

    @property
    def place(self) -> str:
        """Where it stands, for a person."""
        return f"{self.path.relative_to(ROOT)}:{self.line}"


def blocks(path: Path, *kinds: str) -> list[Block]:
    """The fenced blocks of a document, without the indent of a list; all kinds if none is named."""
    text = path.read_text(encoding="utf-8")
    found = [
        Block(path, text.count("\n", 0, match.start()) + 1, match[2], _dedented(match[3], len(match[1])))
        for match in _FENCE.finditer(text)
    ]
    return [block for block in found if not kinds or block.kind in kinds]


def calls(block: Block) -> Iterator[list[str]]:
    """Every `touchstone …` of a shell block as words, without the name, a shell's own words and comments."""
    for line in block.text.replace("\\\n", " ").splitlines():
        plain = re.sub(r'"?\$\([^)]*\)"?|"…"', "WORD", line)
        for found in re.finditer(r"(?:^|[\s|&;])touchstone (?=[a-z-])([^|;&#>]*)", plain):
            yield shlex.split(found[1])


def spoken(path: Path) -> Iterator[list[str]]:
    """Every `touchstone …` in running text as words, without the name."""
    text = _FENCE.sub("", path.read_text(encoding="utf-8"))
    for found in re.finditer(r"`touchstone ([a-z][^`>]*)[^`]*`", text):
        yield shlex.split(found[1].replace('"…"', "WORD"))


def table_rows(text: str, heading: str) -> list[list[str]]:
    """The rows of the first table under a heading, cell by cell, the head left out."""
    section = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert section is not None, f"no heading {heading!r}"
    lines = iter(section[1].splitlines())
    table = takewhile(_is_row, dropwhile(lambda line: not _is_row(line), lines))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in list(table)[2:]]


def _is_row(line: str) -> bool:
    return line.startswith("|")


def _dedented(text: str, by: int) -> str:
    return "".join(line[by:] if line[:by].isspace() else line for line in text.splitlines(keepends=True))
