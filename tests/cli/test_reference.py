"""The reference of the command line says what is there."""

from __future__ import annotations

import re
from pathlib import Path

from touchstone.cli.main import VERBS
from touchstone.errors import EXIT_MEANINGS

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text()


def test_every_verb_stands_in_the_reference_with_its_line() -> None:
    verbs, _, _ = PAGE.partition("\n## ")
    told = dict(re.findall(r"^\| `([a-z]+)` \| (.+) \|$", verbs, re.MULTILINE))
    assert told == {name: verb.line for name, verb in VERBS.items()}


def test_exit_codes_are_those_of_the_program() -> None:
    told = re.findall(r"^\| (\d+) \| (.+) \|$", PAGE, re.MULTILINE)
    assert {int(code): meaning for code, meaning in told} == {
        int(code): meaning for code, meaning in EXIT_MEANINGS.items()
    }
