"""What the documents say is what is there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.kit.documents import DOCUMENTS, ROOT
from touchstone.baseline.comparison import Comparison
from touchstone.baseline.notes import NOTES
from touchstone.baseline.schema import Baseline
from touchstone.records import Record
from touchstone.result.schema import ResultDoc

README = (ROOT / "README.md").read_text()
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_MACHINE_PATH = re.compile(r"(?<![\w.~/])/(?:home|root|work|Users|opt(?!/homebrew)|private)/")


def test_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


def test_readme_names_every_tool_it_is_compared_with_as_the_page_does() -> None:
    names = re.search(r"^\| \| (touchstone .*) \|$", README, re.MULTILINE)
    page = re.search(r"^\| \| (touchstone .*) \|$", (ROOT / "docs/comparison.md").read_text(), re.MULTILINE)
    assert names is not None
    assert page is not None
    assert names[1] == page[1]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_lead_somewhere(document: Path) -> None:
    text = _FENCE.sub("", document.read_text())
    broken = [
        target
        for target in _LINK.findall(text)
        if "://" not in target and not (document.parent / target.partition("#")[0]).exists()
    ]
    assert broken == []


def test_every_picture_is_shown_somewhere() -> None:
    shown = {Path(target).name for path in DOCUMENTS for target in _LINK.findall(path.read_text())}
    assert [path.name for path in (ROOT / "docs" / "images").iterdir() if path.name not in shown] == []


@pytest.mark.parametrize("decision", sorted((ROOT / "docs" / "adr").glob("*.md")), ids=lambda path: path.stem)
def test_decision_is_one_page(decision: Path) -> None:
    text = decision.read_text()
    assert len(text.splitlines()) <= 60
    assert text.splitlines()[2].startswith("Status: ")
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Context",
        "## Decision",
        "## Consequences",
    ]


def test_decisions_are_numbered_without_a_gap() -> None:
    numbers = [int(path.name[:4]) for path in sorted((ROOT / "docs" / "adr").glob("*.md"))]
    assert numbers == list(range(1, len(numbers) + 1))


def test_architecture_lists_the_rooms_there_are() -> None:
    table = (ROOT / "ARCHITECTURE.md").read_text().partition("## Rooms")[2].partition("\nSingle modules")[0]
    listed = re.findall(r"^\| `(\w+)/` \|", table, re.MULTILINE)
    there = [path.parent.name for path in (ROOT / "touchstone").glob("*/__init__.py")]
    assert sorted(listed) == sorted(there)


def test_architecture_leads_to_modules_that_exist() -> None:
    table = (ROOT / "ARCHITECTURE.md").read_text().partition("## From the source")[2]
    here = re.findall(r"^\| `[\w.]+` \| (.+) \|$", table, re.MULTILINE)
    paths = [path for cell in here for path in re.findall(r"`([\w./]+)`", cell)]
    assert len(paths) >= len(here) > 5
    assert [path for path in paths if not (ROOT / "touchstone" / path).exists()] == []


@pytest.mark.parametrize(
    ("file", "model"),
    [("`result.json`", ResultDoc), ("baseline", Baseline), ("`comparison.json`", Comparison)],
)
def test_formats_lists_the_fields_there_are(file: str, model: type[Record]) -> None:
    text = (ROOT / "docs" / "reference" / "formats.md").read_text().partition("## Top-level fields")[2]
    (row,) = re.findall(rf"^\| {re.escape(file)} \| (.+) \|$", text, re.MULTILINE)
    assert re.findall(r"`(\w+)`", row) == list(model.model_fields)


def test_formats_lists_every_code_of_a_note() -> None:
    text = (
        (ROOT / "docs" / "reference" / "formats.md")
        .read_text()
        .partition("## Notes")[2]
        .partition("\n## ")[0]
    )
    assert dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", text, re.MULTILINE)) == NOTES


def test_nobody_is_told_to_install_a_name_the_index_does_not_hold() -> None:
    texts = [ROOT / name for name in ("README.md", "README.de.md", "CONTRIBUTING.md", "Makefile")]
    texts += [*(ROOT / "docs").rglob("*.md"), *(ROOT / "touchstone").rglob("*.py")]
    told = re.compile(r"(?:pip install|pipx|uvx|uv tool)[^\n`]*[\s\"']touchstone(?:-baseline)?[\[\s\"'`]")
    assert told.search('Install it: pip install "touchstone-baseline[demo]"')
    assert [str(path) for path in texts if told.search(path.read_text())] == []


def test_no_tracked_text_names_a_path_of_one_machine() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False).stdout
    names = [name for name in listed.decode().split("\0") if name and not name.startswith("tests/")]
    guilty = [name for name in names if (ROOT / name).is_file() and _names_a_machine(ROOT / name)]
    assert names
    assert guilty == []


def _names_a_machine(path: Path) -> bool:
    return _MACHINE_PATH.search(path.read_text(encoding="utf-8", errors="replace")) is not None
