"""What a service finds: launchd, cron and runners start programs with a shorter PATH than a terminal."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass

from touchstone.host.command import run, this_system

SERVICE_PATH = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin:/opt/homebrew/bin"

_APPLES = "/usr/bin/python3"
_VERSION = re.compile(r"^Python (\d+)\.(\d+)")


@dataclass(frozen=True)
class FoundPython:
    """The first `python3` on a PATH. `version` is (major, minor), None where it does not run."""

    path: str
    version: tuple[int, int] | None


def python_on(path: str) -> FoundPython | None:
    """The `python3` a program with this PATH would start; None where there is none."""
    found = shutil.which("python3", path=path)
    if found is None:
        return None
    if found == _APPLES and this_system() == "darwin" and not _has_command_line_tools():
        # Apple's placeholder: started without the tools it opens a window and waits for a person.
        return FoundPython(found, None)
    output = run(found, "--version")
    version = _VERSION.match(output.text) if output else None
    return FoundPython(found, (int(version[1]), int(version[2])) if version else None)


def _has_command_line_tools() -> bool:
    output = run("xcode-select", "-p")
    return output is not None and output.code == 0
