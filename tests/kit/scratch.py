"""Scratch git repositories: real git, nobody's settings, the same commits every time.

The environment of every call here is built anew (`GIT_*` of a hook the tests may run in, the home folder
and the system's git settings are left out). Code under test runs git by itself; `isolate` gives it the
same peace.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

AUTHOR = "Ada Tester"
EMAIL = "ada@example.invalid"

_FIRST_COMMIT_S = 1_760_000_000
_DAY_S = 86_400


def isolate(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Give git calls of the code under test an empty home folder and no `GIT_*` variables."""
    home.mkdir(parents=True, exist_ok=True)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))


def git_environment(home: Path) -> dict[str, str]:
    """The environment scratch git calls get: PATH, an empty home, no settings but the repository's."""
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "TMPDIR", "LANG"}}
    return kept | {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C",
    }


class ScratchRepo:
    """A repository in a test's folder. Commits are one day apart, starting at a fixed day."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._commits = 0

    def git(self, *args: str, env: Mapping[str, str] | None = None) -> str:
        """Run git here and return what it printed; fails the test on a non-zero exit."""
        done = subprocess.run(
            ["git", "-C", str(self.path), *args],
            env=git_environment(self.path.parent) | dict(env or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, f"git {' '.join(args)}: {done.stderr.decode(errors='replace')}"
        return done.stdout.decode("utf-8", errors="surrogateescape")

    def write(self, relpath: str, content: str | bytes) -> Path:
        """Write a file, folders included."""
        path = self.path / relpath
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    def commit(self, message: str, files: Mapping[str, str | bytes] | None = None) -> str:
        """Write `files`, commit everything there is, and return the commit's id."""
        for relpath, content in (files or {}).items():
            self.write(relpath, content)
        self.git("add", "--all")
        moment = f"{_FIRST_COMMIT_S + self._commits * _DAY_S} +0000"
        self._commits += 1
        self.git(
            "commit", "--quiet", "--allow-empty", "--no-verify", "-m", message,
            env={"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment},
        )  # fmt: skip
        return self.head()

    def head(self) -> str:
        """The id of the commit HEAD stands on."""
        return self.git("rev-parse", "--verify", "HEAD").strip()

    def hook(self, name: str, script: str) -> Path:
        """Install a hook; `script` is sh, without the first line."""
        path = self.write(f".git/hooks/{name}", f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        return path

    def snapshot(self) -> dict[str, bytes]:
        """What must not change behind the user's back: index, HEAD, every file of the working tree."""
        kept = {
            str(path.relative_to(self.path)): path.read_bytes()
            for path in sorted(self.path.rglob("*"))
            if path.is_file() and ".git" not in path.relative_to(self.path).parts
        }
        for name in ("index", "HEAD"):
            path = self.path / ".git" / name
            kept[f".git/{name}"] = path.read_bytes() if path.exists() else b""
        kept["status"] = self.git("--no-optional-locks", "status", "--porcelain", "-z").encode()
        return kept


def scratch_repo(path: Path, *, branch: str = "main", object_format: str = "sha1") -> ScratchRepo:
    """An empty repository with an identity of its own."""
    path.mkdir(parents=True, exist_ok=True)
    repo = ScratchRepo(path)
    repo.git("init", "--quiet", f"--initial-branch={branch}", f"--object-format={object_format}")
    for key, value in {
        "user.name": AUTHOR,
        "user.email": EMAIL,
        "commit.gpgSign": "false",
        "core.autocrlf": "false",
        "gc.auto": "0",
    }.items():
        repo.git("config", key, value)
    return repo


def clone(source: ScratchRepo, path: Path, *options: str) -> ScratchRepo:
    """A clone over `file://`, so that `--depth` holds, with the same identity."""
    source.git("clone", "--quiet", *options, f"file://{source.path}", str(path))
    copy = ScratchRepo(path)
    copy.git("config", "user.name", AUTHOR)
    copy.git("config", "user.email", EMAIL)
    return copy
