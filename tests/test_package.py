"""What is packed: all the command reads at run time, and in the source distribution what it is made of."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.kit.cli import ROOT, environment
from tests.kit.engine import cache_with_model
from tests.kit.scratch import scratch_repo


def tracked(*folders: str) -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()}


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution of this tree."""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder), "-t", "wheel", "-t", "sdist"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


def test_the_wheel_holds_every_file_of_the_package(packed: Path) -> None:
    (wheel,) = packed.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert tracked("touchstone") - names == set()
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"touchstone"}


def test_the_source_distribution_holds_what_the_package_is_made_of(packed: Path) -> None:
    (archive,) = packed.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    wanted = tracked("touchstone", "packs", "prompts", "schemas")
    wanted |= {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "PKG-INFO"}
    assert wanted - names == set()
    assert [name for name in names if name.startswith(("tests/", "runs/", ".venv/", "benchmarks/"))] == []


def test_what_is_packed_runs_without_this_tree(packed: Path, tmp_path: Path) -> None:
    (wheel,) = packed.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    project = scratch_repo(tmp_path / "project")
    told = environment(tmp_path) | {"PYTHONPATH": str(tmp_path / "site")}
    for words in (["init", "--base-url", "http://127.0.0.1:9/v1"], ["validate"], ["schema", "pack"]):
        done = subprocess.run(
            [sys.executable, "-m", "touchstone", *words],
            cwd=project.path, env=told, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    assert (project.path / ".github" / "workflows" / "touchstone.yml").is_file()


@pytest.mark.e2e
def test_the_demo_plays_from_the_wheel_in_an_empty_folder(packed: Path, tmp_path: Path) -> None:
    (wheel,) = packed.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    (tmp_path / "empty").mkdir()
    cache_with_model(tmp_path / "cache" / "touchstone")
    told = environment(tmp_path) | {
        "PYTHONPATH": str(tmp_path / "site"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "touchstone", "demo", "--into", "story"],
        cwd=tmp_path / "empty", env=told, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "starter: WORSE" in done.stdout
    assert (tmp_path / "empty" / "story" / "baselines" / "default" / "starter.json").is_file()
