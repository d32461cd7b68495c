"""Holds this repository's own answers against its baseline: the starter pack on the embedded engine.

    make dogfood

What `touchstone check` says is always printed. It decides only where the system is the one the baseline was
measured on, by engine build and chip: elsewhere answers differ for reasons that no change here has.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.kit.engine import cache_with_model
from touchstone.baseline import store
from touchstone.baseline.schema import Baseline
from touchstone.demo import engine
from touchstone.errors import BadInputError, ExitCode, TouchstoneError
from touchstone.git import Repository
from touchstone.host.info import host_info

ROOT = Path(__file__).resolve().parents[1]
BASELINE = ROOT / "baselines" / "default" / "starter.json"
ENGINE_PACKAGE = "xllamacpp"
VERDICTS = {ExitCode.WORSE, ExitCode.NOT_JUDGED, ExitCode.NOT_COMPARABLE}
"""What another system may cause; wrong input or a bug is a failure anywhere."""


class System(NamedTuple):
    """What decides whether two runs are held against each other. Null: nobody knows."""

    engine_build: str | None
    chip: str | None


def main() -> int:
    """The check's exit code, or 0 where its verdict does not count."""
    try:
        then = system_of(store.load(BASELINE))
        code = _checked()
    except TouchstoneError as error:
        _tell(f"{error.message}\n  → {error.hint or 'docs/releasing.md tells how the baseline is made.'}")
        return error.exit_code
    here = System(version(ENGINE_PACKAGE), host_info().chip)
    counts = is_gate(here, then)
    _tell(f"\nThis system: {_said(here)}. The baseline's: {_said(then)}.")
    _tell("They are the same: the verdict counts." if counts else "They differ: shown only, no gate here.")
    return final_code(code, counts=counts)


def system_of(baseline: Baseline) -> System:
    """The system a baseline was measured on."""
    return System(pinned_build(ROOT, baseline.git.commit), baseline.provenance.chip)


def pinned_build(root: Path, commit: str | None) -> str | None:
    """The engine package a commit pins: the embedded engine tells no build of its own.

    Null where the commit is not there to be read, as in a shallow clone.
    """
    repository = Repository.open(root)
    if repository is None or commit is None:
        return None
    try:
        kept = repository.read(commit, "pyproject.toml") or b""
    except BadInputError:
        return None
    pin = re.search(rf"{ENGINE_PACKAGE}==([\w.]+)", kept.decode())
    return pin[1] if pin else None


def is_gate(here: System, then: System) -> bool:
    """Both are known, and equal."""
    return None not in here and here == then


def final_code(code: int, *, counts: bool) -> int:
    """What this ends with: a verdict that does not count fails nothing."""
    return code if counts or code not in VERDICTS else ExitCode.NOTHING_WORSE


def _checked() -> int:
    with tempfile.TemporaryDirectory(prefix="touchstone-dogfood-") as scratch:
        cache = cache_with_model(Path(scratch) / "cache")
        running = engine.start(cache, _tell)
        try:
            return _check(running.base_url, Path(scratch) / "runs")
        finally:
            engine.stop(cache)


def _check(base_url: str, runs: Path) -> int:
    command = [sys.executable, "-m", "touchstone", "check", "--quiet"]
    options = ["--base-url", base_url, "--runs-dir", str(runs)]
    return subprocess.run([*command, *options], cwd=ROOT, check=False).returncode


def _said(system: System) -> str:
    return f"{ENGINE_PACKAGE} {system.engine_build or 'n/a'} on {system.chip or 'n/a'}"


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
