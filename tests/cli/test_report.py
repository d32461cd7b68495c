"""`touchstone report`: one run in every form."""

from __future__ import annotations

import csv
import io
import json
from xml.etree import ElementTree as ET

import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer
from tests.kit.cli import touchstone
from tests.kit.scratch import ScratchRepo
from touchstone.errors import ExitCode


@pytest.fixture
def run(repo: ScratchRepo, server: ChatServer) -> str:
    done = touchstone(repo.path, "measure", "--pack", "desk", "-q")
    assert done.code == ExitCode.NOTHING_WORSE, done.err
    (run,) = desk.run_ids(repo)
    return run


def test_every_form_tells_of_the_same_run(repo: ScratchRepo, run: str) -> None:
    def told(*options: str) -> str:
        done = touchstone(repo.path, "report", run, *options)
        assert done.code == ExitCode.NOTHING_WORSE, done.err
        return done.out

    result = json.loads(told("--format", "json"))
    assert told("--json") == told("--format", "json")
    assert told() == told("--format", "md") == (repo.path / "runs" / run / "report.md").read_text()
    assert told().startswith(told("--format", "scorecard").partition("\n")[0])
    assert len(list(csv.DictReader(io.StringIO(told("--format", "csv"))))) == len(result["rows"]) == 5
    (suite,) = ET.fromstring(told("--format", "junit"))
    assert suite.attrib["failures"] == "2"
    assert "no idea" not in suite.findall("testcase/failure")[0].attrib["message"]
    assert "Modell: scripted-model" in told("--format", "scorecard", "--language", "de")


def test_an_unknown_form_is_wrong_usage(repo: ScratchRepo, run: str) -> None:
    assert touchstone(repo.path, "report", run, "--format", "pdf").code == ExitCode.USAGE
