"""The documents as a site: they build with every link and anchor checked, and the pages fetch nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.kit.documents import ROOT


def build(project: Path, site: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_site_builds_and_its_pages_fetch_nothing(tmp_path: Path) -> None:
    done = build(ROOT, tmp_path / "site")
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    fetched = re.compile(r"<(?:script|img|iframe)[^>]+src=\"?(?:https?:)?//|<link[^>]+href=\"?(?:https?:)?//")
    assert len(pages) > 20
    assert [page.name for page in pages if fetched.search(page.read_text())] == []


def test_a_link_or_anchor_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(ROOT / "docs", project / "docs")
    shutil.copy(ROOT / "mkdocs.yml", project)
    (project / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "site_decisions.py", project / ".ci")
    for link in ("nowhere.md", "footguns.md#nowhere"):
        shutil.copy(ROOT / "docs" / "index.md", project / "docs" / "index.md")
        with (project / "docs" / "index.md").open("a") as page:
            page.write(f"\n[a link]({link})\n")
        done = build(project, tmp_path / "site")
        assert done.returncode != 0
        assert "nowhere" in done.stderr
