from __future__ import annotations

import platform
from pathlib import Path

import pytest

from tests.kit.fake_macos import FakeMac
from touchstone.host.command import environment, run, text_of, this_system
from touchstone.host.info import HostFacts, host_info


def test_a_mac_by_its_commands(mac: FakeMac) -> None:
    expected = HostFacts("Apple M4 Pro", 48.0, "macOS 26.2, build 25C56", platform.python_version())
    assert this_system() == "darwin"
    assert host_info() == expected


def test_a_mac_without_its_commands_knows_only_its_python(mac: FakeMac) -> None:
    mac.remove()
    assert host_info("darwin") == HostFacts(None, None, None, platform.python_version())


def test_a_linux_machine_by_its_files(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "etc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("model name\t: AMD Ryzen 9 7950X\n")
    (tmp_path / "proc/meminfo").write_text("MemTotal:       65011712 kB\nMemFree:  1 kB\n")
    (tmp_path / "etc/os-release").write_text('PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\n')
    seen = host_info("linux", tmp_path)
    assert (seen.chip, seen.ram_gb, seen.os) == ("AMD Ryzen 9 7950X", 62.0, "Debian GNU/Linux 13 (trixie)")


def test_what_linux_does_not_tell_is_none(tmp_path: Path) -> None:
    assert host_info("linux", tmp_path) == HostFacts(None, None, None, platform.python_version())


def test_commands_run_in_the_c_locale_and_find_the_systems_folders(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert text_of("sh", "-c", "echo $LC_ALL") == "C\n"
    found = environment({"PATH": str(tmp_path)})["PATH"].split(":")
    assert found == [str(tmp_path), "/usr/bin", "/bin", "/usr/sbin", "/sbin"]


def test_secrets_of_the_run_do_not_reach_the_systems_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hidden")
    assert text_of("sh", "-c", "echo [$SOME_API_KEY]") == "[]\n"


def test_a_command_that_is_missing_fails_or_hangs_gives_nothing() -> None:
    assert run("no-such-command-here") is None
    assert run("sleep", "30", timeout_s=0.05) is None
    assert text_of("sleep", "30", timeout_s=0.05) == ""
    failed = run("sh", "-c", "echo good; echo bad >&2; exit 3")
    assert failed is not None
    assert (failed.code, failed.text, failed.complaint) == (3, "good\n", "good\n\nbad")
