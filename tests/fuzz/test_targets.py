"""The fuzz targets on their seeds, on whatever was ever found, and on mutations of both."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import FOUND, MUTATORS, TARGETS, seeds, words

EXAMPLES = {"pack": 150, "judge": 400, "stream": 200, "baseline": 60, "comment": 40}


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_and_what_was_found_hold(name: str) -> None:
    for seed in seeds(name):
        TARGETS[name](seed)


@pytest.mark.parametrize("name", TARGETS)
def test_mutations_of_them_hold(name: str) -> None:
    known, tokens = seeds(name), words(name)

    @given(st.randoms(use_true_random=False))
    @settings(max_examples=EXAMPLES[name], deadline=None)
    def mutated_holds(chance: random.Random) -> None:
        change = MUTATORS.get(name)
        if change is not None and chance.random() < 0.7:
            TARGETS[name](change(chance.choice(known), chance))
        else:
            TARGETS[name](mutated(chance, known, tokens))

    mutated_holds()


def mutated(chance: random.Random, known: list[bytes], tokens: list[bytes]) -> bytes:
    """A seed with pieces taken out, put in from elsewhere, or of the words of its kind."""
    data = bytearray(chance.choice(known))
    for _ in range(chance.randint(1, 4)):
        start = chance.randint(0, len(data))
        end = min(len(data), start + chance.choice((0, 1, 1, 4, 20)))
        other = chance.choice(known)
        cut = chance.randint(0, len(other))
        pieces = (b"", chance.choice(tokens), other[cut : cut + 30], bytes([chance.randrange(256)]))
        data[start:end] = chance.choice(pieces)
    return bytes(data)


def test_every_found_input_belongs_to_a_target() -> None:
    assert {folder.name for folder in FOUND.iterdir() if folder.is_dir()} <= set(TARGETS)
