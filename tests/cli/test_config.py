"""`touchstone config` shows what is in force and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from touchstone.cli.config import command
from touchstone.yaml_source import ProblemsError


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with settings, as the current one."""
    (tmp_path / "touchstone.yaml").write_text('machine: old\ntenant: a\nmodels: [{id: "m\\e"}]\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_value_and_origin_of_every_setting() -> None:
    result = CliRunner().invoke(command, ["--base-url", "http://h/v1"])
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0].startswith("file: ")
    assert 'tenant = "a"  (touchstone.yaml:2)' in lines
    assert 'endpoint.base_url = "http://h/v1"  (--base-url)' in lines
    assert "endpoint.idle_s = 120  (default)" in lines
    assert "\x1b" not in result.stdout


def test_the_old_machine_key_is_mentioned_once_on_stderr() -> None:
    result = CliRunner().invoke(command, [])
    assert result.stderr.count("machine:") == 1
    assert "machine:" not in result.stdout


def test_json_for_machines(project: Path) -> None:
    document = json.loads(CliRunner().invoke(command, ["--json", "--model", "x", "--model", "y"]).stdout)
    assert document["root"] == str(project)
    assert document["settings"]["tenant"] == {"value": "a", "origin": "touchstone.yaml:2"}
    assert [model["id"] for model in document["settings"]["models"]["value"]] == ["x", "y"]
    assert document["settings"]["models"]["origin"] == "--model"


def test_a_bad_flag_is_named() -> None:
    result = CliRunner().invoke(command, ["--concurrency", "0"])
    assert isinstance(result.exception, ProblemsError)
    assert result.exception.message == "--concurrency: must be at least 1"
