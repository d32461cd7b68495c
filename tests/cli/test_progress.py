"""Progress as a person and as a log gets it: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys

import pytest

from tests.kit.cli import environment, touchstone
from tests.kit.scratch import ScratchRepo
from touchstone.cli.progress import Phases

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
MEASURE = ("measure", "--pack", "care")


@pytest.fixture
def repo(repo: ScratchRepo) -> ScratchRepo:
    """Without the sampler, whose process takes a second to start and says what it cannot read here."""
    settings = repo.path / "touchstone.yaml"
    settings.write_text(settings.read_text() + "host: {sampler: false}\n")
    return repo


def test_a_log_gets_plain_lines_with_loads_and_counts(repo: ScratchRepo) -> None:
    done = touchstone(repo.path, *MEASURE)
    lines = done.err.splitlines()
    assert lines.index("loading scripted-model (model 1 of 1)") < lines.index(
        "asking 3/3 · 3 ok · 0 error · scripted-model"
    )
    assert lines.index("loading the judge scripted-judge") < lines.index("judging 3/3 · 3 judged · 0 error")
    assert "\x1b" not in done.err + done.out
    assert "\r" not in done.err
    german = touchstone(repo.path, *MEASURE, "--language", "de")
    assert german.err.startswith("Lauf 1 von 1: ")
    assert "lädt scripted-model (Modell 1 von 1)\n" in german.err
    assert "bewertet 3/3 · 3 bewertet · 0 Fehler\n" in german.err
    assert max(map(len, done.out.splitlines()[:-1])) <= 80


def test_a_run_has_its_last_word_before_the_next_one_begins(repo: ScratchRepo) -> None:
    lines = touchstone(repo.path, *MEASURE, "--times", "2").err.splitlines()
    second = next(number for number, line in enumerate(lines) if line.startswith("run 2 of 2: "))
    for last_word in ("asking 3/3 · 3 ok · 0 error · scripted-model", "judging 3/3 · 3 judged · 0 error"):
        told = [number for number, line in enumerate(lines) if line == last_word]
        assert len(told) == 2
        assert told[0] < second < told[1]


def test_quiet_says_nothing_but_what_is_wrong(repo: ScratchRepo) -> None:
    done = touchstone(repo.path, *MEASURE, "--times", "2", "--quiet")
    assert done.err == "the runs share one launch of the engine; give its restart with --between\n"
    latest = touchstone(repo.path, "list", "--json").json()["runs"][-1]["id"]
    again = touchstone(repo.path, "rejudge", latest, "-q")
    assert again.err == ""
    assert "judged again" in touchstone(repo.path, "rejudge", latest).err
    assert latest in done.out


def on_a_terminal(repo: ScratchRepo, **env: str) -> str:
    """What a terminal of 80 columns gets on stderr."""
    master, slave = pty.openpty()
    usual = {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}
    process = subprocess.Popen(
        [sys.executable, "-m", "touchstone", *MEASURE],
        cwd=repo.path,
        env=environment(repo.path.parent) | usual | env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=slave,
    )
    os.close(slave)
    told = b""
    # A terminal whose last writer is gone ends with an error on Linux, with nothing on macOS.
    try:
        while chunk := os.read(master, 4096):
            told += chunk
    except OSError:
        pass
    os.close(master)
    assert process.wait(30) == 0
    return told.decode()


@pytest.mark.parametrize(("term", "draws"), [("xterm-256color", True), ("dumb", False)])
def test_a_bar_only_where_a_line_can_be_written_over(repo: ScratchRepo, term: str, draws: bool) -> None:
    told = on_a_terminal(repo, TERM=term)
    assert ("━" in told) is draws
    assert ("\x1b" in told) is draws
    assert not _COLOUR.search(told), "NO_COLOR is set"
    lines = [line for part in _CONTROL.sub("", told).splitlines() for line in part.split("\r")]
    assert max(map(len, lines)) <= 80
    assert any(re.match(r"asking.* 3/3.* 3 ok · 0 error · scripted-model", line) for line in lines)


class Terminal(io.StringIO):
    """Stands for a terminal that keeps what it is sent."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("done", [0, 1])
def test_what_is_said_is_never_written_onto_the_bar(monkeypatch: pytest.MonkeyPatch, done: int) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    with Phases(quiet=False) as phases:
        phases.update("judging", done, 1)
        phases.say("to confirm")
        phases.update("judging", 1, 1)
    lines = _CONTROL.sub("", terminal.getvalue()).replace("\r", "").splitlines()
    assert "to confirm" in lines
    assert re.match(r"judging .*1/1", lines[-1])
