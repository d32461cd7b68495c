"""The embedded engine: a real model server on loopback, started and ended by touchstone.

One engine per cache folder. What is running is written to `engine.json` there; a process counts as ours
only if both its id and its start time are the recorded ones, so a stranger's process is never ended.
"""

from __future__ import annotations

import contextlib
import importlib.util
import platform
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from touchstone.demo.model import MODEL_NAME, Say, model_file
from touchstone.errors import BadInputError, EngineError
from touchstone.files import exclusive_lock, read_json, write_json

HOST = "127.0.0.1"
DEFAULT_PORT = 18430

_STATE_NAME = "engine.json"
_LOG_NAME = "engine.log"
_LOCK_NAME = "engine.lock"
_READY_S = 60.0
_STOP_S = 10.0
_POLL_S = 0.05
_LOG_LINES = 8
_CREATED_TOLERANCE_S = 1.0


@dataclass(frozen=True)
class EmbeddedEngine:
    """A running engine. `created` is the process's start in seconds since the epoch."""

    pid: int
    created: float
    port: int
    model: str
    log: Path

    @property
    def base_url(self) -> str:
        """What `--base-url` takes."""
        return f"http://{HOST}:{self.port}/v1"


def start(cache: Path, say: Say, port: int | None = None) -> EmbeddedEngine:
    """The running engine, started if there is none; returns once it answers.

    Without `port` it listens on the usual one, or on any free one where that is taken. Raises EngineError
    where no engine can run, BadInputError for a port that is taken or differs from the running engine's.
    """
    cache.mkdir(parents=True, exist_ok=True)
    with _locked(cache):
        running = status(cache)
        if running is None:
            return _started_on(cache, say, port)
        if port not in (None, running.port):
            raise BadInputError(
                f"the embedded engine already runs on port {running.port}", "End it: touchstone engine stop"
            )
        _wait_until_ready(running)
        return running


def stop(cache: Path) -> EmbeddedEngine | None:
    """End the engine; returns what was ended, None if none was running."""
    if status(cache) is None:
        return None
    with _locked(cache):
        return _stopped(cache)


def restart(cache: Path, say: Say) -> EmbeddedEngine:
    """End the engine and start it again on its port: the same address, another launch."""
    ended = stop(cache)
    return start(cache, say, ended.port if ended else None)


def status(cache: Path) -> EmbeddedEngine | None:
    """The engine that runs, whether or not it answers yet; None where there is none."""
    path = cache / _STATE_NAME
    if not path.exists():
        return None
    engine = _recorded(read_json(path), path)
    return engine if _process_of(engine) else None


def is_ready(engine: EmbeddedEngine) -> bool:
    """Whether the server says it is healthy."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://{HOST}:{engine.port}/health", timeout=2) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _locked(cache: Path) -> contextlib.AbstractContextManager[None]:
    return exclusive_lock(
        cache / _LOCK_NAME, "another touchstone is starting or stopping the engine", "Try again in a moment."
    )


def _started_on(cache: Path, say: Say, wanted: int | None) -> EmbeddedEngine:
    port = _port_to_use(wanted)
    try:
        return _started(cache, say, port)
    except EngineError:
        if wanted is not None or _is_free(port):
            raise
    return _started(cache, say, _port_to_use(None))  # another server took the port while ours was starting


def _started(cache: Path, say: Say, port: int) -> EmbeddedEngine:
    _require_engine_package()
    model_path = model_file(cache, say)
    log = cache / _LOG_NAME
    command = [sys.executable, "-m", "touchstone.demo.serve", str(model_path), str(port), MODEL_NAME]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=cache, start_new_session=True
        )
    # Left running on purpose: told so, Python does not complain about the child that outlives this object.
    process.returncode = 0
    engine = EmbeddedEngine(process.pid, _created(process.pid, log), port, MODEL_NAME, log)
    write_json(cache / _STATE_NAME, {**vars(engine), "log": str(log)})
    say(f"starting the embedded engine (llama.cpp, model {MODEL_NAME}) on {engine.base_url}")
    try:
        _wait_until_ready(engine)
    except BaseException:
        _stopped(cache)
        raise
    return engine


def _stopped(cache: Path) -> EmbeddedEngine | None:
    running = status(cache)
    if running is not None:
        _end(running)
    (cache / _STATE_NAME).unlink(missing_ok=True)
    return running


def _created(pid: int, log: Path) -> float:
    try:
        return psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:
        raise EngineError(f"the embedded engine ended while starting. {_log_tail(log)}") from None


def _require_engine_package() -> None:
    if importlib.util.find_spec("xllamacpp") is not None:
        return
    if has_wheel(sys.platform, platform.machine(), platform.libc_ver()[0]):
        raise EngineError(
            "the embedded engine is not installed",
            "In the folder touchstone was cloned into: pip install '.[demo]' (make demo does it by itself)",
        )
    raise EngineError(
        "the embedded engine does not exist for this machine: there are builds for Linux with glibc "
        "(x86-64, arm64) and macOS on Apple silicon only",
        "Use a model server of your own: touchstone measure --base-url http://127.0.0.1:1234/v1 --model NAME",
    )


def has_wheel(system: str, machine: str, libc: str) -> bool:
    """Whether an engine build exists for a `sys.platform`, a machine type and a C library."""
    if system == "darwin":
        return machine == "arm64"
    return system == "linux" and machine in ("x86_64", "aarch64") and libc == "glibc"


def _port_to_use(wanted: int | None) -> int:
    port = DEFAULT_PORT if wanted is None else wanted
    if _is_free(port):
        return port
    if wanted is not None:
        raise BadInputError(
            f"port {wanted} is taken by another program", "Choose another --port, or leave it out."
        )
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _listens(engine: EmbeddedEngine) -> bool:
    """Whether it is this engine that answers on its port, and not another one that was quicker."""
    process = _process_of(engine)
    try:
        return process is not None and any(
            one.laddr.port == engine.port
            for one in process.net_connections("inet")
            if one.status == psutil.CONN_LISTEN
        )
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


def _wait_until_ready(engine: EmbeddedEngine) -> None:
    deadline = time.monotonic() + _READY_S
    while not (is_ready(engine) and _listens(engine)):
        if _process_of(engine) is None:
            raise EngineError(f"the embedded engine ended while starting. {_log_tail(engine.log)}")
        if time.monotonic() > deadline:
            raise EngineError(
                f"the embedded engine did not answer within {_READY_S:.0f} s. {_log_tail(engine.log)}"
            )
        time.sleep(_POLL_S)


def _log_tail(log: Path) -> str:
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    lines = [line for line in text.splitlines() if line.strip()][-_LOG_LINES:]
    return f"Last lines of {log}:\n" + "\n".join(lines or ["(empty)"])


def _end(engine: EmbeddedEngine) -> None:
    process = _process_of(engine)
    if process is None:
        return
    process.terminate()
    try:
        process.wait(_STOP_S)
    except psutil.TimeoutExpired:
        process.kill()
        process.wait(_STOP_S)


def _process_of(engine: EmbeddedEngine) -> psutil.Process | None:
    try:
        process = psutil.Process(engine.pid)
        if abs(process.create_time() - engine.created) >= _CREATED_TOLERANCE_S:
            return None
        if process.status() != psutil.STATUS_ZOMBIE:
            return process
        # It has ended. If it was started by this very process, this lets go of what is left of it.
        with contextlib.suppress(psutil.TimeoutExpired):
            process.wait(0)
    except psutil.NoSuchProcess:
        pass
    return None


def _recorded(value: Any, path: Path) -> EmbeddedEngine:
    try:
        return EmbeddedEngine(
            int(value["pid"]),
            float(value["created"]),
            int(value["port"]),
            str(value["model"]),
            Path(value["log"]),
        )
    except (KeyError, TypeError, ValueError):
        raise BadInputError(f"{path}: not an engine state", f"Delete it: rm {path}") from None
