"""The tutorial, followed word for word: every command runs, and prints what the page says it prints.

Run names, commit ids, days, folders, ports, the engine's process and the chip are made equal on both sides.
The engine picks its kernels by the processor's instruction sets, and with other rounding the small model may
choose other words. So every word is compared only where engine build and instruction sets are those the page
was written with (`golden/tutorial-machine.json`); elsewhere it is the verdicts and exit codes that no word of
the model decides.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.kit.cli import environment
from tests.kit.documents import ROOT, Block, blocks
from tests.kit.engine import cache_with_model
from touchstone.demo import engine

pytestmark = pytest.mark.engine

TUTORIAL = ROOT / "docs" / "tutorial.md"
MACHINE = ROOT / "tests" / "golden" / "tutorial-machine.json"
PORTS = ("18430", "18431")
MARK = "=== end of block"

_KERNEL_SETS = re.compile(r"sse4_2|avx\w*|fma|f16c|bmi2|amx_\w+|asimd\w*|sve\w*|i8mm|bf16|sme\d*")
"""Instruction sets, as Linux names them, that decide which kernels llama.cpp runs."""
_RUN = re.compile(r"(\d{8}T\d{6}Z)_([a-z]+)_([0-9a-f]{6})")
_ALIKE = (
    (re.compile(r"\b(?=[a-f]*\d)[0-9a-f]{7,64}\b(?!-)"), "0a1b2c3d4e5f"),
    (re.compile(r"\b\d{4}-\d{2}-\d{2}\b"), "2026-11-30"),
    (re.compile(r"^process: .*$", re.MULTILINE), "process: 4711, log ~/.cache/touchstone/engine.log"),
    (re.compile(r"\(pid \d+\)"), "(pid 4711)"),
    (re.compile(r"Chip .*$", re.MULTILINE), "Chip Intel(R) Xeon(R) Processor"),
)


@dataclass(frozen=True)
class Followed:
    """What came of following the page: per shell block what it printed, and all that went to stderr."""

    printed: list[str]
    errors: str


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Followed:
    home = tmp_path_factory.mktemp("home").resolve()
    cache = cache_with_model(home / "cache" / "touchstone")
    ports = dict(zip(PORTS, map(str, _free_ports()), strict=True))
    script = "".join(f"{block.text}\nprintf '\\n%s\\n' '{MARK}'\n" for block, _ in steps())
    for page, here in ports.items():
        script = script.replace(page, here)
    try:
        printed, errors = _run(script, home)
    finally:
        engine.stop(cache)
    for page, here in ports.items():
        printed = printed.replace(here, page)
    printed = printed.replace(str(home), "~")
    return Followed([text.rstrip("\n") for text in printed.split(f"\n{MARK}\n")][:-1], errors)


def steps() -> list[tuple[Block, Block | None]]:
    """Every shell block with the text block that stands right after it, if one does."""
    found = blocks(TUTORIAL, "sh", "text")
    after = [*found[1:], None]
    pairs = zip(found, after, strict=True)
    return [(one, two if two and two.kind == "text" else None) for one, two in pairs if one.kind == "sh"]


def alike(texts: list[str]) -> list[str]:
    """The texts with everything made equal that is another on every machine and every day.

    Runs are numbered in the order in which they are first named, so that which run is meant stays checked.
    """
    return [_alike(text) for text in _numbered("\f".join(texts)).split("\f")]


def _alike(text: str) -> str:
    for pattern, instead in _ALIKE:
        text = pattern.sub(instead, text)
    return "\n".join(line.rstrip() for line in text.rstrip("\n").splitlines())


def decided_by_no_word(text: str) -> list[str]:
    """The verdicts and exit codes of a block, where they hold whatever the model says."""
    verdict = r"^(?:\w+: (?:NO REFERENCE YET|PROMOTION|NOT COMPARABLE)|exit code \d+)"
    return re.findall(verdict, text, re.MULTILINE)


def is_decided_by_words(expected: str) -> bool:
    """Whether the page's verdict here rests on what the model said."""
    return re.search(r"^\w+: WORSE ", expected, re.MULTILINE) is not None


def this_machine() -> dict[str, Any]:
    """What the model's words depend on beside the model: the engine's build and its arithmetic here."""
    told = Path("/proc/cpuinfo").read_text() if sys.platform == "linux" else ""
    flags = re.search(r"^(?:flags|Features)\s*: (.*)$", told, re.MULTILINE)
    sets = sorted(filter(_KERNEL_SETS.fullmatch, flags[1].split())) if flags else []
    return {"engine": version("xllamacpp"), "instruction_sets": sets, "processor": platform.machine()}


def _numbered(text: str) -> str:
    runs = {id_: number for number, id_ in enumerate(dict.fromkeys(_RUN.findall(text)), start=1)}
    for (stamp, pack, digits), number in runs.items():
        text = text.replace(f"{stamp}_{pack}_{digits}", f"20261130T1200{number:02}Z_{pack}_a000{number:02}")
    return text


def test_every_block_prints_what_the_page_says(followed: Followed) -> None:
    assert len(followed.printed) == len(steps()), followed.errors[-3000:]
    if os.environ.get("UPDATE_GOLDEN"):
        _write_down(followed.printed)
    due = alike([text.text if text else "" for _, text in steps()])
    is_the_pages = json.loads(MACHINE.read_text()) == this_machine()
    for (block, _), expected, said in zip(steps(), due, alike(followed.printed), strict=True):
        where = f"{block.place}\n{followed.errors[-2000:]}"
        if is_the_pages:
            assert said == expected, where
        elif is_decided_by_words(expected):
            assert re.search(r"^exit code [01]$", said, re.MULTILINE), where
        else:
            assert decided_by_no_word(said) == decided_by_no_word(expected), where
            assert bool(said) is bool(expected), where


def test_what_no_word_decides_is_most_of_the_page() -> None:
    """On another machine than the page's the walk is still held to all verdicts and exit codes but one."""
    pages = [text.text for _, text in steps() if text]
    firm = [decided_by_no_word(text) for text in pages if not is_decided_by_words(text)]
    assert sum(map(is_decided_by_words, pages)) == 1
    assert [line for lines in firm for line in lines] == [
        "exit code 0",
        "desk: NO REFERENCE YET",
        "exit code 0",
        "desk: PROMOTION",
        "exit code 0",
        "tone: NOT COMPARABLE",
        "exit code 3",
        "tone: PROMOTION",
        "exit code 0",
    ]


def test_the_three_walks_end_as_promised() -> None:
    """Each is told in the table at the top, with the exit code that its own block prints."""
    text = TUTORIAL.read_text()
    rows = re.findall(r"^\| \[.*?\]\(#(\d)-.*?\) \| ([A-Z ]+) \| (\d) \|$", text, re.MULTILINE)
    assert [row[0] for row in rows] == ["2", "4", "7"]
    for number, says, code in rows:
        section = re.search(rf"^## {number}\..*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
        assert section is not None
        assert re.search(rf"^\w+: {says}.*^exit code {code}$", section[0], re.MULTILINE | re.DOTALL)


def _run(script: str, home: Path) -> tuple[str, str]:
    """Run the page's commands in one shell; whatever it left running is ended."""
    environ = environment(home / "library") | {"XDG_CACHE_HOME": str(home / "cache")}
    environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environ["PATH"]])
    with subprocess.Popen(
        ["bash", "-c", script],
        cwd=home,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as shell:
        try:
            return shell.communicate(timeout=600)
        finally:
            _end_group(shell.pid)


def _end_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        return one.getsockname()[1], two.getsockname()[1]


def _write_down(printed: list[str]) -> None:
    """Put what was printed into the page, from its end so that lines before keep their number."""
    lines = TUTORIAL.read_text().splitlines()
    for (_, text), said in reversed(list(zip(steps(), alike(printed), strict=True))):
        if text is not None:
            end = lines.index("```", text.line)
            lines[text.line : end] = said.splitlines()
    TUTORIAL.write_text("\n".join(lines) + "\n")
    MACHINE.write_text(json.dumps(this_machine(), indent=2) + "\n")
