"""What may be released, and what the workflows that do it hold themselves to."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SOURCE = '__version__ = "1.2.3"\n'
CHANGELOG = """# Changelog

## Unreleased

## 1.2.3 - 2026-12-01

### Added

- A thing.

## 1.2.2 - 2026-11-01

- Old.
"""


@pytest.fixture(scope="module")
def release() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release", ROOT / ".ci" / "release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def workflow(path: Path) -> dict[Any, Any]:
    read = yaml.safe_load(path.read_text())
    assert isinstance(read, dict)
    return read


def test_a_release_is_told_by_its_section_of_the_changelog(release: ModuleType) -> None:
    assert release.notes("v1.2.3", SOURCE, CHANGELOG) == "### Added\n\n- A thing.\n"


@pytest.mark.parametrize(
    ("tag", "source", "changelog", "said"),
    [
        ("1.2.3", SOURCE, CHANGELOG, "no release tag"),
        ("v1", SOURCE, CHANGELOG, "no release tag"),
        ("v1.2.3-rc1", SOURCE, CHANGELOG, "no release tag"),
        ("", SOURCE, CHANGELOG, "no release tag"),
        ("v1.2.4", SOURCE, CHANGELOG, "another version"),
        ("v1.2.3", SOURCE, CHANGELOG.replace("1.2.3", "1.2.4"), "no section"),
        ("v1.2.3", SOURCE, CHANGELOG.replace("### Added\n\n- A thing.\n", ""), "an empty one"),
        ("v1.2.3", SOURCE, CHANGELOG.replace("1.2.3 - 2026-12-01", "1.2.3"), "no section"),
    ],
)
def test_a_tag_that_does_not_fit_is_refused(
    release: ModuleType, tag: str, source: str, changelog: str, said: str
) -> None:
    with pytest.raises(release.NoReleaseError, match=said) as raised:
        release.notes(tag, source, changelog)
    assert "\n  → " in str(raised.value)


def test_only_a_whole_version_starts_a_release() -> None:
    tags = workflow(ROOT / ".github" / "workflows" / "release.yml")[True]["push"]["tags"]
    assert tags == ["v[0-9]+.[0-9]+.[0-9]+"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_pins_its_actions_and_starts_without_rights(path: Path) -> None:
    text = path.read_text()
    uses = re.findall(r"uses: (\S+)(.*)", text)
    assert uses
    assert [one for one in uses if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", "".join(one))] == []
    read = workflow(path)
    assert read["permissions"] == {}
    assert all("timeout-minutes" in job for job in read["jobs"].values())


def test_each_right_to_write_belongs_to_one_job() -> None:
    jobs = workflow(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    writes = {
        name: {right for right, level in job["permissions"].items() if level == "write"}
        for name, job in jobs.items()
    }
    assert writes == {"check": set(), "build": set(), "publish": {"id-token"}, "announce": {"contents"}}
    assert jobs["publish"]["environment"] == "pypi"
