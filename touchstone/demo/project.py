"""The files a project starts with: settings, a pack to begin with, workflows, hooks, a git attribute.

Every text is made before anything is written, and what is there already is never touched: it is told what
it lacks.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from touchstone.demo.origin import Origin
from touchstone.demo.scaffold import PACK_PATH, PROMPT_PATH, shipped_text
from touchstone.errors import BadInputError
from touchstone.files import make_folder, read_bytes, write_atomic

SETTINGS_PATH = "touchstone.yaml"
CHECK_PATH = ".github/workflows/touchstone.yml"
PROMOTE_PATH = ".github/workflows/touchstone-promote.yml"
HOOKS_PATH = ".pre-commit-config.yaml"
ATTRIBUTES_PATH = ".gitattributes"

NO_SOURCE = "OWNER/touchstone"
NO_COMMIT = "0" * 40
"""They stand where an address and a commit must be put by hand; no repository has them."""

_USUAL_URL = "http://127.0.0.1:1234/v1"
_FORMATTER_FILES = {
    ".prettierrc*": ".prettierignore: add /baselines/",
    "prettier.config.*": ".prettierignore: add /baselines/",
    "biome.json*": 'biome: add "!baselines" to files.includes',
    "dprint.json*": 'dprint: add "baselines" to excludes',
    ".gitleaks.toml": "gitleaks: allow the path ^baselines/",
    ".secrets.baseline": "detect-secrets: scan with --exclude-files '^baselines/'",
}
_MEDDLING_HOOKS = frozenset(
    {
        "biome-check", "biome-format", "codespell", "detect-secrets", "dprint", "editorconfig-checker",
        "end-of-file-fixer", "fix-byte-order-marker", "ggshield", "gitleaks", "mixed-line-ending", "prettier",
        "pretty-format-json", "trailing-whitespace", "trufflehog", "typos",
    }
)  # fmt: skip
"""Hooks that rewrite JSON, or take a hash for a secret or a misspelt word."""


@dataclass(frozen=True)
class Server:
    """The model server a project begins with; `models` as it lists them, the one to test first."""

    url: str | None = None
    models: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """Where workflows and hooks get touchstone: what was told or found, else a place to fill in."""

    origin: Origin
    action: str | None
    """`owner/name` where the address is one of GitHub's."""

    @property
    def address(self) -> str:
        """The git address."""
        return self.origin.address or f"https://github.com/{NO_SOURCE}"

    @property
    def commit(self) -> str:
        """The commit there."""
        return self.origin.commit if self.origin.address and self.origin.commit else NO_COMMIT

    @property
    def uses(self) -> str:
        """The Action as a workflow names it."""
        return f"{self.action or NO_SOURCE}@{self.commit}"

    @property
    def package(self) -> str:
        """The package as pip takes it."""
        address = re.sub(r"^[\w.-]+@([^:/]+):", r"ssh://git@\1/", self.address)
        return f"git+{address}@{self.commit}"


@dataclass(frozen=True)
class Placed:
    """What became of one file: `written`, `kept` as it was, or kept although it lacks `add`; `barred`, where
    it could not be written: `add` says why.
    """

    path: str
    state: Literal["written", "kept", "lacking", "left_out", "barred"]
    add: str = ""


def project_texts(server: Server, source: Source, shards: int) -> dict[str, str]:
    """Relative path → content of every file a project starts with."""
    check = _template("check.yml" if shards == 1 else "check-shards.yml", source, shards)
    return {
        SETTINGS_PATH: settings_text(server),
        PACK_PATH: shipped_text("starter.yaml"),
        PROMPT_PATH: shipped_text("assistant.md"),
        HOOKS_PATH: _template("pre-commit.yaml", source, shards),
        CHECK_PATH: check,
        PROMOTE_PATH: _template("promote.yml", source, shards),
        ATTRIBUTES_PATH: _template("gitattributes", source, shards),
    }


def settings_text(server: Server) -> str:
    """`touchstone.yaml` with the server and its model, or with the lines to fill in."""
    head = "# What touchstone does here without any option; touchstone config shows it all.\nschema: 1\n"
    models = [name for name in server.models if name.isprintable()]
    lines = [
        "endpoint:",
        f"  base_url: {_quoted(server.url or _USUAL_URL)}",
        "models:",
        f"  - id: {_quoted(models[0]) if models else 'MODEL'}",
    ]
    if server.url is None:
        head += "# The model server and the model to test:\n"
        lines = [f"# {line}" for line in lines]
    elif not models:
        lines[2:] = [f"# {line}" for line in ["the model to test, by the name the server lists:", *lines[2:]]]
    others = "".join(f"  # - id: {_quoted(name)}\n" for name in models[1:6])
    return head + "\n".join(lines) + "\n" + others + "packs: [packs]\n"


def place(folder: Path, texts: dict[str, str]) -> list[Placed]:
    """Write what is not there yet; nothing that is there is changed."""
    without_starter = _has_packs(folder) or _is_there(folder / PROMPT_PATH)
    placed = []
    for path, text in texts.items():
        if _is_there(folder / path):
            placed.append(_kept(folder / path, path, text))
        elif without_starter and path in {PACK_PATH, PROMPT_PATH}:
            placed.append(Placed(path, "left_out"))
        else:
            placed.append(_written(folder / path, path, text))
    return placed


def _written(file: Path, path: str, text: str) -> Placed:
    """One file that cannot be written leaves the others theirs."""
    try:
        make_folder(file.parent)
        write_atomic(file, text)
    except (OSError, BadInputError) as error:
        return Placed(path, "barred", str(error))
    return Placed(path, "written")


def is_unfilled(file: Path) -> bool:
    """Whether a file still waits for where touchstone lies."""
    text = read_bytes(file).decode("utf-8", "replace") if file.is_file() else ""
    return NO_SOURCE in text or NO_COMMIT in text


def exclusions(folder: Path) -> list[str]:
    """What the formatters and scanners of this project must be told, so that they leave baselines alone."""
    told = [words for pattern, words in _FORMATTER_FILES.items() if any(folder.glob(pattern))]
    hooks = folder / HOOKS_PATH
    text = read_bytes(hooks).decode("utf-8", "replace") if hooks.is_file() else ""
    found = re.findall(r"^[\s-]*id:\s*['\"]?([\w-]+)", text, re.MULTILINE)
    meddling = sorted(_MEDDLING_HOOKS.intersection(found))
    if meddling and "baselines" not in text:
        told.append(f"{HOOKS_PATH}: give {', '.join(meddling)}  exclude: ^baselines/")
    return list(dict.fromkeys(told))


def _kept(file: Path, path: str, text: str) -> Placed:
    lacking = {
        HOOKS_PATH: ("touchstone-validate", "- repo:"),
        ATTRIBUTES_PATH: ("/baselines/", "/baselines/"),
    }
    if path not in lacking or not file.is_file():
        return Placed(path, "kept")
    mark, begins = lacking[path]
    if mark in read_bytes(file).decode("utf-8", "replace"):
        return Placed(path, "kept")
    lines = text.splitlines(keepends=True)
    start = next(number for number, line in enumerate(lines) if line.lstrip().startswith(begins))
    return Placed(path, "lacking", "".join(lines[start:]))


def _has_packs(folder: Path) -> bool:
    return any((folder / "packs").glob("*.y*ml"))


def _is_there(path: Path) -> bool:
    """Also a link that leads nowhere: writing would follow it."""
    return os.path.lexists(path)


def _template(name: str, source: Source, shards: int) -> str:
    text = (files("touchstone.demo") / "files" / "project" / name).read_text(encoding="utf-8")
    numbers: Sequence[str] = [str(number) for number in range(1, shards + 1)]
    fields = {
        "<action>": source.uses,
        "<package>": source.package,
        "<address>": source.address,
        "<commit>": source.commit,
        "<shards>": str(shards),
        "<numbers>": ", ".join(numbers),
    }
    for field, value in fields.items():
        text = text.replace(field, value)
    return text


def _quoted(text: str) -> str:
    """A YAML double-quoted scalar: JSON's is one where every character is printable."""
    return json.dumps(text, ensure_ascii=False)
