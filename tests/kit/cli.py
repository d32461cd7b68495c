"""The command line as a person runs it: a process of its own, its two streams and its exit code."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.kit.forked import ForkServer

ROOT = Path(__file__).parents[2]
NOTHING_MORE: Mapping[str, str] = MappingProxyType({})
_IDLE: list[ForkServer] = []
"""Processes to be forked that nobody uses now; a test may run several commands at once."""


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Its stdout as JSON."""
        return json.loads(self.out)


def environment(home: Path) -> dict[str, str]:
    """An environment with nothing of the developer's: no GIT_*, no settings, no proxy, no colours."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "error",
        "NO_COLOR": "1",
    }


def touchstone(cwd: Path, *args: str, timeout: float = 120, env: Mapping[str, str] = NOTHING_MORE) -> Done:
    """Run `touchstone ARGS` in a folder; `env` goes over the environment.

    The process is a fork of one that has imported everything, which halves the time of the suite; see
    `from_scratch` for one that starts Python.
    """
    from tests.kit.forked import ForkServer  # noqa: PLC0415  it runs what this module describes

    try:
        server = _IDLE.pop()
    except IndexError:
        server = ForkServer()
        atexit.register(server.close)
    ended = server.run(cwd, *args, env=env, kill_after_s=timeout, watched=False)
    _IDLE.append(server)
    if ended.code == -signal.SIGKILL:
        raise subprocess.TimeoutExpired(["touchstone", *args], timeout, ended.out, ended.err)
    return Done(ended.code, ended.out, ended.err)


def from_scratch(cwd: Path, *args: str, timeout: float = 120, env: Mapping[str, str] = NOTHING_MORE) -> Done:
    """Run `python -m touchstone ARGS` in a folder."""
    done = subprocess.run(
        [sys.executable, "-m", "touchstone", *args],
        cwd=cwd,
        env=environment(cwd.parent) | dict(env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def start(cwd: Path, args: Sequence[str], env: Mapping[str, str] = NOTHING_MORE) -> subprocess.Popen[str]:
    """Start `touchstone ARGS` and leave it running."""
    return subprocess.Popen(
        [sys.executable, "-m", "touchstone", *args],
        cwd=cwd,
        env=environment(cwd.parent) | dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
