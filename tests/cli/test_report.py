"""`touchstone report`: one run in every form."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.kit import desk
from tests.kit.chat_server import ChatServer, Script, answer
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


def test_a_report_held_against_something_tells_the_comparison_first(repo: ScratchRepo, run: str) -> None:
    def told(*options: str) -> str:
        done = touchstone(repo.path, "report", run, "--against", run, *options)
        assert done.code == ExitCode.NOTHING_WORSE, done.err
        return done.out

    lines = told().splitlines()
    assert lines[0].startswith("# 🟢 desk: ")
    counts = next(number for number, line in enumerate(lines) if line.startswith("**4 pass · 1 fail"))
    assert lines.index("# The run") < counts
    assert json.loads(told("--format", "json"))["candidate"]["run"] == run
    assert {line["state"] for line in csv.DictReader(io.StringIO(told("--format", "csv")))} == {"unchanged"}
    suites = ET.fromstring(told("--format", "junit"))
    assert [suite.attrib["name"] for suite in suites] == ["desk", "scripted-model · house"]
    assert {suite.attrib["failures"] for suite in suites} == {"0"}
    assert told("--format", "scorecard").startswith(lines[0])
    comment = told("--format", "comment")
    assert comment.startswith("## 🟢 desk: UNCHANGED")
    assert "<!--" not in comment
    assert comment.splitlines()[-1] == f"head `{repo.head()[:12]}`"


def test_a_comment_needs_something_to_hold_the_run_against(repo: ScratchRepo, run: str) -> None:
    done = touchstone(repo.path, "report", run, "--format", "comment")
    assert done.code == ExitCode.USAGE
    assert "--against OLD" in done.err
    assert f"touchstone report {run} --against HEAD:baselines/default/desk.json --format comment" in done.err


def test_obsidian_has_its_frontmatter_first(repo: ScratchRepo, run: str) -> None:
    lines = touchstone(repo.path, "report", run, "--format", "obsidian").out.splitlines()
    assert lines[:2] == ["---", f'run: "{run}"']
    assert "Model: [[scripted-model]] · Judge: none, checks only" in lines


def test_a_run_without_a_result_is_rebuilt_and_says_so(repo: ScratchRepo, run: str) -> None:
    plain = touchstone(repo.path, "report", run)
    (repo.path / "runs" / run / "result.json").unlink()
    done = touchstone(repo.path, "report", run)
    assert done.code == ExitCode.NOTHING_WORSE
    assert "has no result.json; every number is computed anew from its lines" in done.err
    notice = "> This run has no result.json; every number here was computed anew from its lines.\n\n"
    assert done.out == plain.out.replace("## Provenance", f"{notice}## Provenance")
    assert not (repo.path / "runs" / run / "result.json").exists()
    assert "result.json" not in touchstone(repo.path, "report", run, "-q").err


def test_a_newer_schema_is_one_clear_sentence(repo: ScratchRepo, run: str) -> None:
    path = repo.path / "runs" / run / "result.json"
    path.write_text(path.read_text().replace('"schema_version": 1', '"schema_version": 2', 1))
    done = touchstone(repo.path, "report", run)
    assert done.code == ExitCode.REFUSED
    assert done.out == ""
    assert done.err == (
        f"touchstone: {path}: schema 2 is newer than this touchstone reads (1)\n  → Update touchstone.\n"
    )


def test_an_unknown_form_is_wrong_usage(repo: ScratchRepo, run: str) -> None:
    assert touchstone(repo.path, "report", run, "--format", "pdf").code == ExitCode.USAGE


ORDERS = "Well.\n::error::forged\n  ::set-output name=verdict::better\n##[error]x\n::add-mask::a"
_ORDER = re.compile(r"^\s*(::|##\[)", re.MULTILINE)


class _Ordering(desk.Mind):
    """Answers with lines that a workflow's runner would obey."""

    def __call__(self, body: dict[str, Any]) -> Script:
        return answer(ORDERS, model=desk.MODEL) if body["model"] == desk.MODEL else super().__call__(body)


def test_no_line_that_is_printed_is_an_order_to_a_jobs_runner(tmp_path: Path) -> None:
    with ChatServer(_Ordering(), models=(desk.MODEL, desk.JUDGE)) as server:
        repo = desk.project(tmp_path / "project", server.base_url)
        prompt = repo.path / "prompts" / "house.md"
        prompt.write_text(prompt.read_text() + f"\n{ORDERS}\n")
        repo.git("commit", "-qam", "orders")
        said = [touchstone(repo.path, "measure", "--pack", "desk", "--times", "3")]
        runs = desk.run_ids(repo)
        said.append(touchstone(repo.path, "promote", *runs, "--here"))
        prompt.write_text(prompt.read_text() + "\nShort.\n")
        repo.git("commit", "-qam", "shorter")
        said += [
            touchstone(repo.path, *command)
            for command in (("check", "--pack", "desk"), ("compare", "latest"), ("list",))
        ]
    said += [
        touchstone(repo.path, "report", "latest", "--format", form, *against)
        for form in ("md", "obsidian", "scorecard", "junit", "csv", "json", "html", "comment")
        for against in ((), ("--against", "HEAD:baselines/default/desk.json"))
        if form != "comment" or against
    ]
    said += [touchstone(repo.path, *command) for command in (("show", "latest", "A1"), ("history",))]
    for done in said:
        assert done.code in {0, 1, 2, 3}, done.err
        assert _ORDER.findall(done.out + done.err) == []
    assert sum("forged" in done.out for done in said) > 8, "the text is there all the same"
