"""The changelog's section of a release, or why a tag may not be released.

    python3 .ci/release.py v1.2.3

Nothing but Python's own library is used: it runs before anything is installed.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TAG = re.compile(r"v(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}")


class NoReleaseError(Exception):
    """What is wrong with the tag, and what to do."""


def main() -> int:
    """Prints the notes, or the fault and exit code 4."""
    version = (ROOT / "touchstone" / "__init__.py").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    try:
        sys.stdout.write(notes(sys.argv[1] if len(sys.argv) > 1 else "", version, changelog))
    except NoReleaseError as fault:
        sys.stderr.write(f"{fault}\n")
        return 4
    return 0


def notes(tag: str, source: str, changelog: str) -> str:
    """The section of the tag's version. `source` is touchstone/__init__.py. Raises NoReleaseError."""
    if not TAG.fullmatch(tag):
        raise NoReleaseError(
            f"“{tag}” is no release tag.\n  → Releases are tagged vX.Y.Z; vX moves by itself."
        )
    version = tag.removeprefix("v")
    if f'__version__ = "{version}"' not in source:
        raise NoReleaseError(
            f"touchstone/__init__.py holds another version than {version}.\n"
            "  → Set __version__ there, commit, and tag that commit."
        )
    found = re.search(
        rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## |\Z)", changelog, re.M | re.S
    )
    if found is None or not found[1].strip():
        raise NoReleaseError(
            f"CHANGELOG.md has no section “## {version} - YYYY-MM-DD”, or an empty one.\n"
            "  → Rename Unreleased to it, and begin a new Unreleased above."
        )
    return found[1].strip() + "\n"


if __name__ == "__main__":
    sys.exit(main())
