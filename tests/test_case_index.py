"""Every public case has a test of its name, and so has one more of each kind made after the code."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
INDEX = TESTS / "cases" / "public" / "index.tsv"

WITH_OWN = ("judge", "stream", "http", "eval")
"""Kinds of which a variant of our own passes too, written after the code."""

_ID = re.compile(r"(?<![A-Za-z0-9])[A-Z]\d\d(?![0-9])")


def cases() -> dict[str, list[str]]:
    """The ids of the index by kind."""
    found: dict[str, list[str]] = defaultdict(list)
    with INDEX.open(newline="", encoding="utf-8") as handle:
        for row in csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE):
            found[row["kind"]].append(row["id"])
    return dict(found)


def names_of_tests() -> list[str]:
    """Names of test functions, and of the pack files that are each a test of `tests/pack`."""
    functions = [
        name
        for path in TESTS.rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    files = [
        path.stem for folder in ("good", "bad") for path in (TESTS / "cases/packs" / folder).glob("*.yaml")
    ]
    return functions + files


NAMES = names_of_tests()
COVERED = {id_ for name in NAMES for id_ in _ID.findall(name.replace("_", " "))}


@pytest.mark.parametrize("kind", sorted(cases()))
def test_every_case_has_a_test_that_carries_its_id(kind: str) -> None:
    missing = [id_ for id_ in cases()[kind] if id_ not in COVERED]
    assert missing == [], f"no test is named after: {', '.join(missing)}"


@pytest.mark.parametrize("kind", WITH_OWN)
def test_each_kind_has_a_variant_of_our_own(kind: str) -> None:
    assert any(name.startswith(f"test_{id_}_own_") for name in NAMES for id_ in cases()[kind])


def test_the_index_is_read_whole() -> None:
    assert sum(map(len, cases().values())) == len(INDEX.read_text(encoding="utf-8").splitlines()) - 1
