"""The set-up behind `make demo` and `make test`: which Python it takes, and what it says when none fits."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SH = shutil.which("sh") or "/bin/sh"
LOCK = (ROOT / "requirements" / "dev.lock").read_text()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A PATH folder without any Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def _program(path: Path, name: str, body: str) -> None:
    (path / name).write_text(f"#!{SH}\n{body}\n")
    (path / name).chmod(0o755)


def _venv(path: Path, folder: Path, *wanted: str) -> subprocess.CompletedProcess[str]:
    command = [SH, str(ROOT / ".ci" / "venv"), str(folder), *wanted]
    return subprocess.run(
        command, env={"PATH": str(path)}, capture_output=True, text=True, check=False, timeout=60
    )


def test_without_python_it_says_what_to_install(path: Path, tmp_path: Path) -> None:
    done = _venv(path, tmp_path / "venv")
    assert done.returncode == 1
    assert "needs Python 3.11 or newer; none of python3.14 to python3.11, python3 is" in done.stderr
    assert "brew install" in done.stderr
    assert "apt install" in done.stderr


def test_an_old_python_does_not_do(path: Path, tmp_path: Path) -> None:
    _program(path, "python3", "exit 1  # as 3.9 does when asked for 3.11")
    done = _venv(path, tmp_path / "venv")
    assert done.returncode == 1
    assert "needs Python 3.11 or newer" in done.stderr


def test_a_python_without_venv_names_the_package(path: Path, tmp_path: Path) -> None:
    _program(path, "python3.12", 'case "$2" in *ensurepip*) exit 1;; *) exit 0;; esac')
    done = _venv(path, tmp_path / "venv")
    assert done.returncode == 1
    assert "python3.12 is new enough but cannot make virtual environments" in done.stderr
    assert "python3-venv" in done.stderr


def test_the_newest_python_that_fits_makes_the_environment(path: Path, tmp_path: Path) -> None:
    for name in ("python3", "python3.11", "python3.13"):
        _program(path, name, f'case "$1" in -c) exit 0;; *) echo "{name} $@";; esac')
    done = _venv(path, tmp_path / "venv")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [f"python3.13 -m venv --clear {tmp_path / 'venv'}"]


def test_a_named_python_is_the_only_one_looked_at(path: Path, tmp_path: Path) -> None:
    _program(path, "python3.13", 'case "$1" in -c) exit 0;; *) echo "$@";; esac')
    done = _venv(path, tmp_path / "venv", "python3.12")
    assert done.returncode == 1
    assert "none of python3.12 is" in done.stderr


def test_a_working_environment_is_kept(path: Path) -> None:
    done = _venv(path, Path(sys.prefix))
    assert done.returncode == 0
    assert done.stdout + done.stderr == ""


def test_make_uses_nothing_newer_than_the_make_of_macos() -> None:
    text = (ROOT / "Makefile").read_text()
    newer = [".ONESHELL", "!=", "$(file ", "::=", "undefine ", ".EXTRA_PREREQS", "&:", "$(let "]
    assert [word for word in newer if word in text] == []


def test_lock_file_has_every_direct_dependency_and_hashes_alone() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(line for group in project["optional-dependencies"].values() for line in group),
    ]
    wanted += (ROOT / "requirements" / "build.in").read_text().split()
    names = {re.split(r"[^A-Za-z0-9._-]", line)[0].lower() for line in wanted}
    pinned = set(re.findall(r"^([a-z0-9._-]+)==", LOCK, re.MULTILINE))
    assert names - pinned == set()
    blocks = re.split(r"^(?=[a-z0-9._-]+==)", LOCK, flags=re.MULTILINE)
    assert [block for block in blocks if block and "--hash=sha256:" not in block] == []


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").glob("*.lock")), ids=lambda path: path.name)
def test_every_lock_pins_each_package_by_version_and_hash(path: Path) -> None:
    text = path.read_text()
    blocks = [block for block in re.split(r"^(?=\S)", text, flags=re.MULTILINE) if block.strip()]
    assert blocks
    for block in blocks:
        assert re.match(r"[a-z0-9._-]+==[^ \n]+", block), block
        assert "--hash=sha256:" in block, block
    assert re.findall(r"https?:|--index|--find-links|file:|git\+", text) == []


def test_a_runtime_dependency_is_of_the_design_or_has_a_decision_of_its_own() -> None:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.split(r"[^A-Za-z0-9._-]", line)[0].lower() for line in wanted}
    decided = " ".join(path.read_text().lower() for path in (ROOT / "docs/adr").glob("*.md"))
    of_the_design = {"pydantic", "pyyaml", "httpx", "psutil", "gitpython", "jsonschema", "click"}
    assert [name for name in sorted(names - of_the_design) if name not in decided] == []


def test_lock_file_names_no_index() -> None:
    assert re.findall(r"https?:|--index|--find-links|file:", LOCK) == []
