"""Whatever stands in a pack file, loading ends in a pack or in named problems."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from touchstone.config import CompareSettings
from touchstone.pack.digest import checks_of, hashes_of, suite_of
from touchstone.pack.load import LoadedPack, pack_from
from touchstone.yaml_source import ProblemsError

CASES = Path(__file__).parent.parent / "cases" / "packs"
SOURCES = sorted([*(CASES / "good").glob("*.yaml"), *(CASES / "bad").glob("*.yaml")])
TOKENS = sorted({token for path in SOURCES[:40] for token in path.read_bytes().split()})[:400]


@given(st.binary(max_size=600))
@settings(max_examples=200, deadline=None)
def test_no_bytes_crash_loading(data: bytes) -> None:
    _loads_or_names(data)


@given(st.randoms(use_true_random=False), st.sampled_from(SOURCES))
@settings(max_examples=400, deadline=None)
def test_no_mutation_of_a_real_pack_crashes_loading(chance: random.Random, source: Path) -> None:
    lines = source.read_bytes().split(b"\n")[:60]
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(lines))
        kind = chance.randrange(5)
        if kind == 0:
            del lines[place]
            lines = lines or [b""]
        elif kind == 1:
            lines.insert(place, chance.choice(lines))
        else:
            words = lines[place].split(b" ")
            words[chance.randrange(len(words))] = chance.choice(TOKENS)
            lines[place] = b" ".join(words)
    _loads_or_names(b"\n".join(lines))


@pytest.mark.parametrize("cut", range(0, 1500, 61))
def test_no_cut_of_the_design_example_crashes_loading(cut: int) -> None:
    _loads_or_names((CASES / "good" / "design-example.yaml").read_bytes()[:cut])


def _loads_or_names(data: bytes) -> None:
    try:
        loaded = pack_from(data, CASES / "good" / "pack.yaml")
    except ProblemsError as error:
        for line in error.message.split("\n"):
            assert line.startswith((str(CASES), "…"))
            assert "pydantic" not in line
    else:
        _is_whole(loaded)


def _is_whole(loaded: LoadedPack) -> None:
    suite = suite_of(loaded, compare=CompareSettings(), judge=None, extra_body={})
    assert hashes_of(suite).pack == suite.pack_sha256
    for _, prompt in loaded.pack.prompts():
        assert checks_of(suite, prompt.id) == prompt.checks
