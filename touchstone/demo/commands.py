"""Commands of the story: shown as a person types them, run as they stand, heard line by line."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from touchstone.errors import NotJudgedError

Echo = Callable[[str], None]

_DONE = frozenset({0})


class Commands:
    """Runs commands in one folder and echoes each with its output."""

    def __init__(self, folder: Path, echo: Echo, environ: Mapping[str, str]) -> None:
        self.folder = folder
        self._echo = echo
        self._environ = _clean_environment(environ)

    def touchstone(self, *arguments: str, expected: Collection[int] = _DONE) -> int:
        """`touchstone …` with the Python that runs this; returns the exit code."""
        return self._run(
            ["touchstone", *arguments], [sys.executable, "-m", "touchstone", *arguments], expected
        )

    def git(self, *arguments: str) -> int:
        """`git …` without a pager."""
        return self._run(["git", *arguments], ["git", "--no-pager", *arguments], _DONE)

    def git_unseen(self, *arguments: str) -> None:
        """`git …` that is no part of the story, such as naming the scratch repository's author."""
        command = ["git", *arguments]
        done = subprocess.run(
            command, cwd=self.folder, env=self._environ, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise NotJudgedError(f"`{shlex.join(command)}` failed: {done.stderr.strip()}")

    def _run(self, shown: list[str], command: list[str], expected: Collection[int]) -> int:
        self._echo(f"$ {shlex.join(shown)}")
        with subprocess.Popen(
            command,
            cwd=self.folder,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        ) as process:
            self._hear(process)
        if process.returncode not in expected:
            raise NotJudgedError(
                f"`{shlex.join(shown)}` ended with exit code {process.returncode}; the story stops here",
                f"What it left is in {self.folder}",
            )
        return process.returncode

    def _hear(self, process: subprocess.Popen[str]) -> None:
        try:
            for line in process.stdout or ():
                self._echo(line.rstrip("\n"))
        except BaseException:
            process.terminate()  # told to stop: the command must not go on by itself
            raise


def _clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Without what a hook's or a user's git has set, and with this Python's scripts found first."""
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    scripts = str(Path(sys.executable).parent)
    return kept | {
        "PATH": os.pathsep.join([scripts, environ.get("PATH", os.defpath)]),
        "PYTHONUNBUFFERED": "1",
        "NO_COLOR": "1",
    }
