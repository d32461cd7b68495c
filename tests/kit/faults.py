"""A disk that fails, or a machine that dies, at one chosen operation on a file.

Installed in a process of its own (`tests.kit.forked`), before the command line runs: the operating system's
calls by which touchstone changes files are counted, and the n-th one fails. Nothing of touchstone is
replaced; what it calls behaves as the system's own calls do on a full disk or in a crash.

The ways: `kill` (SIGKILL before the operation), `half` (SIGKILL when half of the bytes are written),
`ENOSPC` (this operation and every later one that needs room; half of the bytes still fit), `EACCES` and
`EIO` (this operation).
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WAYS = ("kill", "half", "ENOSPC", "EACCES", "EIO")
NEEDS_ROOM = {"create", "write", "mkdir", "fsync"}

_open, _write, _io_open = os.open, os.write, io.open


@dataclass(frozen=True)
class Fault:
    """What happens at operation `at`, counted from 0."""

    at: int
    way: str


class Operations:
    """Counts the operations below some folders, and lets one of them fail.

    `log` has an entry `(kind, path)` per operation, the path relative to the folder it lies in. `fired` is
    called when the fault strikes.
    """

    def __init__(
        self, folders: Sequence[Path], fault: Fault | None = None, fired: Callable[[], None] = lambda: None
    ) -> None:
        self.log: list[tuple[str, str]] = []
        self._folders = [str(folder.resolve()) for folder in folders]
        self._fault = fault
        self._fired = fired
        self._paths: dict[int, str] = {}

    def install(self) -> None:
        """Put the counters in place, for good: this process is made to be thrown away."""
        os.open = self._os_open
        os.write = self._os_write  # type: ignore[assignment]
        os.fsync = self._os_fsync  # type: ignore[assignment]
        for kind, name in (
            ("mkdir", "mkdir"), ("rename", "replace"), ("rename", "rename"), ("remove", "unlink"),
            ("remove", "remove"), ("remove", "rmdir"), ("truncate", "truncate"), ("chmod", "chmod"),
        ):  # fmt: skip
            setattr(os, name, self._on_path(kind, getattr(os, name)))
        io.open = self._io_open
        builtins.open = self._io_open
        sys.addaudithook(self._on_event)

    def strike(self, kind: str, path: str, data: bytes = b"", put: Callable[[bytes], object] = len) -> None:
        """Count an operation; where it is the chosen one, this does not return."""
        number = len(self.log)
        self.log.append((kind, path))
        fault = self._fault
        if fault is None or number < fault.at:
            return
        if number > fault.at and not (fault.way == "ENOSPC" and kind in NEEDS_ROOM):
            return
        self._fired()
        if fault.way in {"half", "ENOSPC"} and len(data) > 1:
            put(data[: len(data) // 2])
        if fault.way in {"kill", "half"}:
            os.kill(os.getpid(), signal.SIGKILL)
        code = getattr(errno, fault.way)
        raise OSError(code, os.strerror(code), path)

    def _place(self, path: Any) -> str | None:
        """The path relative to the watched folder it lies in; None elsewhere."""
        try:
            full = os.path.abspath(os.fsdecode(path))  # noqa: PTH100  pathlib itself is being watched
        except TypeError:
            return None
        for folder in self._folders:
            if full.startswith(folder + os.sep) or full == folder:
                return os.path.relpath(full, folder)
        return None

    def _os_open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        place = self._place(path) if dir_fd is None else None
        if place is not None and flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR):
            self.strike("create", place)
        descriptor = _open(path, flags, mode, dir_fd=dir_fd)
        self._paths[descriptor] = place or ""
        return descriptor

    def _os_write(self, descriptor: int, data: bytes) -> int:
        place = self._paths.get(descriptor)
        if place:
            self.strike("write", place, bytes(data), lambda part: _write(descriptor, part))
        return _write(descriptor, data)

    def _os_fsync(self, descriptor: int) -> None:
        """Counted, not carried out: what a process wrote outlives it without, and tests would only wait."""
        place = self._paths.get(descriptor)
        if place:
            self.strike("fsync", place)

    def _on_path(self, kind: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(path: Any, *rest: Any, **named: Any) -> Any:
            # Removing a tree names its entries relative to a folder that is open.
            place = str(path) if named.get("dir_fd") is not None else self._place(path)
            if place is not None:
                self.strike(kind, place)
            return call(path, *rest, **named)

        return watched

    def _io_open(self, file: Any, mode: str = "r", *rest: Any, **named: Any) -> Any:
        place = None if isinstance(file, int) else self._place(file)
        if place is None or not set(mode) & set("wax+"):
            return _io_open(file, mode, *rest, **named)
        self.strike("create", place)
        raw = _WatchedFile(file, mode.replace("b", "").replace("t", ""))
        raw.strike = lambda data, put: self.strike("write", place, data, put)
        self._paths[raw.fileno()] = place
        buffered = io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding=named.get("encoding"))

    def _on_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        """A process is started: the machine may die between two steps of git."""
        if event == "subprocess.Popen":
            self.strike("process", " ".join(map(str, arguments[1])))


class _WatchedFile(io.FileIO):
    """A file opened for writing through Python's own buffers."""

    strike: Callable[[bytes, Callable[[bytes], object]], None]

    def write(self, data: Any) -> int:
        self.strike(bytes(data), super().write)
        return super().write(data)
