"""Makes the pictures of docs/images anew: the demo is played on its real model, a prompt promoted twice more,
and the pages that come of it are looked at in Chromium.

    make pictures                       (or: python .ci/pictures.py [FOLDER of a demo that was played])
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from comment_page import comment_page

from tests.kit.browser import Browser, Look
from touchstone.demo.commands import Commands
from touchstone.demo.scaffold import PACK_PATH, PROMPT_PATH
from touchstone.demo.story import BASELINE_PATH, PAGE_NAME
from touchstone.files import read_text, write_atomic

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
EDITS = (
    (
        "Answer in one short sentence, using only these facts.",
        "Answer in one short sentence. Use the words of these facts.",
        "Answers keep to the words of the facts",
    ),
    (
        "- The reading room on the second floor is silent.",
        "- The reading room is on the second floor. Be silent there.",
        "Say where the reading room is before what it asks for",
    ),
)
"""Old line, new line, and the reason that the promotion gives."""

WIDE = Look(width=1080, height=800)
COMMENT = Look(width=902, height=600)


def main() -> int:
    """Play, write the pages, take the pictures."""
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory(prefix="touchstone-pictures-") as scratch:
        folder = given or Path(scratch) / "story"
        if given is None:
            Commands(Path(scratch), _tell, os.environ).touchstone("demo", "--into", str(folder))
        run = folder / "runs" / _runs(folder)[-1]
        comment = Path(scratch) / "comment.html"
        write_atomic(comment, comment_page(run, folder / BASELINE_PATH))
        _take(run / PAGE_NAME, _promoted(folder, Path(scratch)), comment)
    return 0


def _promoted(folder: Path, scratch: Path) -> Path:
    """The page of the baseline's history after two more promotions."""
    page = scratch / "history.html"
    commands = Commands(folder, _tell, os.environ)
    commands.git("switch", "--quiet", "main")
    (port,) = re.findall(r"base_url: \S+:(\d+)/", read_text(folder / "touchstone.yaml"))
    commands.touchstone("engine", "start", "--port", port)
    try:
        for old, new, reason in EDITS:
            path = folder / PROMPT_PATH
            write_atomic(path, read_text(path).replace(old, new))
            commands.git("commit", "--quiet", "-m", reason, "--", PROMPT_PATH)
            before = set(_runs(folder))
            commands.touchstone("measure", "--pack", PACK_PATH, "--times", "3")
            runs = sorted(set(_runs(folder)) - before)
            commands.touchstone("select", *runs)
            (chosen,) = [run for run in runs if (folder / "runs" / run / "selection.json").exists()]
            commands.touchstone("promote", chosen, "--here", "--reason", reason)
    finally:
        commands.touchstone("engine", "stop")
    commands.touchstone("history", "--html", str(page))
    return page


def _take(compared: Path, history: Path, comment: Path) -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with Browser() as browser:
        browser.open(compared, WIDE)
        _keep(browser, "page.png", 960)
        browser.open(history, WIDE)
        _keep(browser, "history.png", 760)
        browser.open(comment, COMMENT)
        _keep(browser, "pull-request-comment.png", 1100)


def _keep(browser: Browser, name: str, height: int) -> None:
    """So many pixels of a page from its top on."""
    shown = browser.screenshot(height)
    (IMAGES / name).write_bytes(shown)
    _tell(f"docs/images/{name}: {len(shown) // 1000} kB")


def _runs(folder: Path) -> list[str]:
    return sorted(path.parent.name for path in folder.glob("runs/*/manifest.json"))


def _tell(line: str) -> None:
    print(line, flush=True)  # noqa: T201  what a script says


if __name__ == "__main__":
    sys.exit(main())
