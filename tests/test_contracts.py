"""Each gate of `make lint` goes red on a planted fault: a copy of the source tree gets one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = Path(sys.executable).parent

# One fault per arrow: where it is planted, the import, and the name of the contract that must break.
FORBIDDEN = [
    ("pack/schema.py", "import touchstone.run.records", "the data walks"),
    ("result/schema.py", "import touchstone.gate", "the data walks"),
    ("engine/reply.py", "import touchstone.host", "the data walks"),
    ("host/__init__.py", "import touchstone.pack", "the data walks"),
    ("errors.py", "import touchstone.records", "the data walks"),
    ("gate/__init__.py", "import touchstone.cli", "the data walks"),
    ("demo/__init__.py", "import touchstone.forge", "only the command line"),
    ("pack/schema.py", "import httpx", "reading packs"),
    ("config.py", "import touchstone.engine", "reading packs"),
    ("result/schema.py", "import time", "numbers and words"),
    ("render/__init__.py", "import random", "numbers and words"),
    ("judge/__init__.py", "import subprocess", "processes are started"),
    ("gate/__init__.py", "import click", "click is"),
    ("baseline/__init__.py", "import git", "GitPython has"),
    ("engine/__init__.py", "import httpx", "httpx is"),
    ("engine/__init__.py", "import psutil", "processes and memory"),
    ("render/report.py", "import jinja2", "jinja2 fills"),
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of everything the gates read."""
    for name in ("pyproject.toml", ".importlinter", "README.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(
        ROOT / "touchstone", tmp_path / "touchstone", ignore=shutil.ignore_patterns("__pycache__")
    )
    return tmp_path


def test_unharmed_tree_keeps_every_contract(tree: Path) -> None:
    done = _gate(tree, "lint-imports", "--no-cache")
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


@pytest.mark.parametrize(("module", "fault", "contract"), FORBIDDEN)
def test_forbidden_import_breaks_its_contract(tree: Path, module: str, fault: str, contract: str) -> None:
    _plant(tree / "touchstone" / module, fault)
    done = _gate(tree, "lint-imports", "--no-cache")
    assert done.returncode == 1
    broken = [line for line in done.stdout.splitlines() if " BROKEN" in line]
    assert any(line.startswith(contract) for line in broken), done.stdout


def test_a_module_without_a_place_breaks_the_route(tree: Path) -> None:
    (tree / "touchstone" / "utils.py").write_text('"""Anything."""\n')
    done = _gate(tree, "lint-imports", "--no-cache")
    assert done.returncode == 1
    assert "touchstone.utils" in done.stdout


def test_ruff_sees_an_unused_import(tree: Path) -> None:
    _plant(tree / "touchstone" / "errors.py", "import json")
    done = _gate(tree, "ruff", "check", "--no-cache", "touchstone/errors.py")
    assert done.returncode == 1
    assert "F401" in done.stdout


def test_ruff_sees_another_layout(tree: Path) -> None:
    _plant(tree / "touchstone" / "errors.py", "LIST = [ 1,2 ]")
    done = _gate(tree, "ruff", "format", "--no-cache", "--check", "touchstone/errors.py")
    assert done.returncode == 1
    assert "would be reformatted" in done.stdout


def test_mypy_sees_a_wrong_type(tree: Path) -> None:
    _plant(tree / "touchstone" / "errors.py", 'COUNT: int = "three"')
    done = _gate(tree, "mypy", "--cache-dir", str(tree / "cache"), "touchstone/errors.py")
    assert done.returncode == 1
    assert 'variable has type "int"' in done.stdout


def _plant(path: Path, line: str) -> None:
    """Put a line after the module's imports from the future, where any import may stand."""
    head, future, rest = path.read_text().partition("from __future__ import annotations\n")
    path.write_text(f"{head}{future}{line}\n{rest}" if future else f"{head}\n{line}\n")


def _gate(tree: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(SCRIPTS / script), *arguments],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
