"""A second real engine: mlx_lm.server on the CPU, with the weights of the embedded engine.

Its environment (about 430 MB) and the re-packed model (98 MB) are kept in touchstone's cache folder, outside
the repository, and made once.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PACKAGES = ("mlx[cpu]==0.32.4", "mlx-lm==0.32.2")
MODEL = "default_model"
"""The name under which it answers for the model it was started with."""

_INSTALL_S = 900
_READY_S = 90
_STOP_S = 10
_REPACK = Path(__file__).with_name("repack.py")


def installed(home: Path, gguf: Path) -> Path:
    """The model folder, made with its environment where it is missing. Fetches from the package index."""
    python, model, done = _python(home), home / "model", home / "packages.txt"
    wanted = "\n".join(PACKAGES)
    if not done.exists() or done.read_text() != wanted:
        _run([sys.executable, "-m", "venv", str(home / "venv")])
        _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES])
        done.write_text(wanted)
    if not (model / "config.json").exists():
        _run([str(python), str(_REPACK), str(gguf), str(model)])
    return model


@contextmanager
def serving(home: Path, model: Path) -> Iterator[str]:
    """Its base URL while the `with` block lasts."""
    port, log = _free_port(), home / "server.log"
    command = [str(_python(home)), "-m", "mlx_lm", "server", "--model", str(model)]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=_environment(home), stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    try:
        _wait_until_ready(process, port, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(_STOP_S)


def _python(home: Path) -> Path:
    return home / "venv" / "bin" / "python"


def _environment(home: Path) -> dict[str, str]:
    """Nothing is fetched while it runs."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "HF_HOME": str(home / "hub"),
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


def _run(command: list[str]) -> None:
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_INSTALL_S, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr[-2000:]}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    until = time.monotonic() + _READY_S
    while time.monotonic() < until and process.poll() is None:
        try:
            with opener.open(f"http://127.0.0.1:{port}/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(f"mlx_lm.server did not come up:\n{log.read_text()[-2000:]}")
