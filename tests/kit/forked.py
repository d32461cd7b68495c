"""The command line in forks of one process that has imported everything: 40 times cheaper than Python anew.

    with ForkServer() as forks:
        done = forks.run(repo.path, "measure", "-q", fault=Fault(17, "half"))

What runs is `touchstone.cli.boundary.run`, in a process of its own with its own streams, working folder and
environment; only Python's start and the imports are shared. The server has a single thread, so a fork of it
is sound.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO, cast

from tests.kit.cli import NOTHING_MORE, ROOT, environment
from tests.kit.faults import Fault, Operations

BUG = 70


@dataclass(frozen=True)
class Ended:
    """How a command ended. `code` is negative for a signal; `fired` says whether the fault struck."""

    code: int
    out: str
    err: str
    fired: bool = False
    operations: list[tuple[str, str]] = field(default_factory=list)
    """Every operation on a file, where the process lived to tell."""


class ForkServer:
    """A process that waits to be forked."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.kit.forked"],
            cwd=ROOT,
            env=environment(Path(tempfile.gettempdir())),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the server; a second call does nothing."""
        if self._process.returncode is None:
            self._process.communicate()

    def run(
        self,
        cwd: Path,
        *args: str,
        env: Mapping[str, str] = NOTHING_MORE,
        fault: Fault | None = None,
        kill_after_s: float | None = None,
        watched: bool = True,
    ) -> Ended:
        """`touchstone ARGS` in a folder.

        Watched: operations in `cwd` and in a temporary folder of its own are counted, and the fault strikes.
        """
        order: dict[str, Any] = {
            "cwd": str(cwd),
            "args": args,
            "env": environment(cwd.parent) | dict(env),
            "scratch": None,
            "fault": [fault.at, fault.way] if fault else None,
            "kill_after_s": kill_after_s,
        }
        if watched:
            scratch = cwd.parent / "tmp"
            scratch.mkdir(exist_ok=True)
            order["scratch"] = str(scratch)
            order["env"] = {"TMPDIR": str(scratch)} | order["env"]
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        told = json.loads(self._process.stdout.readline())
        told["operations"] = [(kind, path) for kind, path in told["operations"]]
        return Ended(**told)


def main() -> None:
    """Fork once per line of standard input, and answer each with a line."""
    _import_everything()
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(_forked(json.loads(line))), flush=True)


def _import_everything() -> None:
    from touchstone.cli.main import VERBS  # noqa: PLC0415

    for verb in VERBS:
        importlib.import_module(f"touchstone.cli.{verb}")
    for name in ("git.cmd", "jsonschema", "psutil", "httpx", "rich.progress", "touchstone.forge.github"):
        importlib.import_module(name)


def _forked(order: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder) / name for name in ("out", "err", "told")]
        pid = os.fork()
        if pid == 0:
            _child(order, streams)
        code = _waited(pid, order["kill_after_s"])
        out, err, told = (
            stream.read_text("utf-8", "replace") if stream.exists() else "" for stream in streams
        )
        lines = told.splitlines()
        return {
            "code": code,
            "out": out,
            "err": err,
            "fired": "fired" in lines,
            "operations": next((json.loads(line) for line in lines if line != "fired"), []),
        }


def _waited(pid: int, kill_after_s: float | None) -> int:
    until = None if kill_after_s is None else time.monotonic() + kill_after_s
    while until is not None and time.monotonic() < until:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.004)
    if until is not None:
        os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _child(order: dict[str, Any], streams: list[Path]) -> None:
    """Everything a new process has of its own, then the command line, then the end."""
    code = BUG
    try:
        out, err, told = (
            os.open(stream, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600) for stream in streams
        )
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, goal in ((nothing, 0), (out, 1), (err, 2)):
            os.dup2(source, goal)
        sys.stdin, sys.stdout, sys.stderr = _text(0, "r"), _text(1, "w"), _text(2, "w")
        os.environ.clear()
        os.environ.update(order["env"])
        tempfile.tempdir = None
        os.chdir(order["cwd"])
        write = os.write

        def fired() -> None:
            write(told, b"fired\n")

        operations = _watch(order, fired)
        from touchstone.cli.boundary import run  # noqa: PLC0415

        code = run(order["args"])
        sys.stdout.flush()
        sys.stderr.flush()
        write(told, json.dumps(operations.log).encode() + b"\n")
    finally:
        os._exit(code)


def _watch(order: dict[str, Any], fired: Callable[[], None]) -> Operations:
    """The operations so far; none are noted where nobody watches."""
    if order["scratch"] is None:
        return Operations([])
    fault = Fault(*order["fault"]) if order["fault"] else None
    operations = Operations([Path(order["cwd"]), Path(order["scratch"])], fault, fired)
    operations.install()
    return operations


def _text(descriptor: int, mode: str) -> TextIO:
    return cast("TextIO", os.fdopen(descriptor, mode, encoding="utf-8", closefd=False))


if __name__ == "__main__":
    main()
