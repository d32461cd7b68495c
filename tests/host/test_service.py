"""The Python a service would start."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.kit.fake_macos import FakeMac
from touchstone.host.service import FoundPython, python_on


def plant(folder: Path, script: str) -> Path:
    folder.mkdir(exist_ok=True)
    program = folder / "python3"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


def test_the_first_python_on_the_path_and_its_version(tmp_path: Path) -> None:
    old, new = plant(tmp_path / "old", "echo Python 3.9.6"), plant(tmp_path / "new", "echo Python 3.13.1")
    path = [str(old.parent), str(new.parent)]
    assert python_on(os.pathsep.join(path)) == FoundPython(str(old), (3, 9))
    assert python_on(os.pathsep.join(reversed(path))) == FoundPython(str(new), (3, 13))


def test_no_python_on_the_path_is_none(tmp_path: Path) -> None:
    assert python_on(str(tmp_path)) is None


@pytest.mark.parametrize("script", ["exit 1", "echo nothing known", "exec sleep 60"])
def test_one_that_does_not_say_its_version_has_none(
    tmp_path: Path, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = plant(tmp_path / "bin", script)
    assert python_on(str(program.parent)) == FoundPython(str(program), None)


def test_apples_placeholder_is_not_started(mac: FakeMac, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("touchstone.host.service._APPLES", str(mac.bin / "python3"))
    plant(mac.bin, f"touch {mac.bin}/started; echo Python 3.9.6")
    assert python_on(str(mac.bin)) == FoundPython(str(mac.bin / "python3"), None)
    assert not (mac.bin / "started").exists()
    (mac.bin / "xcode-select").write_text("#!/bin/sh\necho /Library/Developer/CommandLineTools\n")
    (mac.bin / "xcode-select").chmod(0o755)
    assert python_on(str(mac.bin)) == FoundPython(str(mac.bin / "python3"), (3, 9))
