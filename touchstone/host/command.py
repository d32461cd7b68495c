"""The one way this room starts a command: no shell, no locale, no terminal, never for long."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass

TIMEOUT_S = 3.0

_KEPT = ("HOME", "USER", "LOGNAME", "TMPDIR")

# A service started by launchd or cron may lack these; sysctl lives in the last but one.
_SYSTEM_PATH = ("/usr/bin", "/bin", "/usr/sbin", "/sbin")


@dataclass(frozen=True)
class Output:
    """How a command ended and what it wrote."""

    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        """Standard output; bytes that are not UTF-8 become U+FFFD."""
        return self.out.decode("utf-8", errors="replace")

    @property
    def complaint(self) -> str:
        """Everything it wrote, both streams: which one carries a refusal is not settled."""
        return (self.out + b"\n" + self.err).decode("utf-8", errors="replace").strip()


def run(*argv: str, timeout_s: float = TIMEOUT_S) -> Output | None:
    """Run a command to its end; None when it does not exist, cannot start, or takes too long."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            env=environment(os.environ),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return Output(done.returncode, done.stdout, done.stderr)


def text_of(*argv: str, timeout_s: float = TIMEOUT_S) -> str:
    """What a command wrote to standard output; empty when it could not be run.

    A non-zero exit does not empty it: sysctl fails for one unknown name among several good ones.
    """
    output = run(*argv, timeout_s=timeout_s)
    return output.text if output else ""


def environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """What the system's commands get to see: who and where we are, PATH with the system's folders at its
    end, the C locale, and nothing else, so no key of the run.
    """
    path = inherited.get("PATH", "").split(os.pathsep)
    path += [folder for folder in _SYSTEM_PATH if folder not in path]
    kept = {name: inherited[name] for name in _KEPT if name in inherited}
    return {**kept, "LC_ALL": "C", "PATH": os.pathsep.join(filter(None, path))}


def this_system() -> str:
    """`darwin` where the commands of macOS answer, else what Python calls the platform.

    Going by the commands lets a test put a Mac on PATH.
    """
    return "darwin" if shutil.which("sw_vers") else sys.platform
