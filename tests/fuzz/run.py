"""Coverage-guided fuzzing of one target: `python -m tests.fuzz.run TARGET [--runs N]`.

Needs atheris (`make fuzz` brings it). The first fault ends it: its input is kept in `.fuzz/TARGET/`, to be
moved to `tests/cases/fuzz/TARGET/` once it is mended. An input that takes more than a second is a fault too.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["touchstone"]):
    from tests.fuzz.targets import LONGEST_INPUT, MUTATORS, TARGETS, seeds, words

LONGEST_S = 1.0
RUNS = 100_000
WORK = Path(".fuzz")


def main() -> None:
    """Play inputs until the runs are used up or one fails."""
    options = argparse.ArgumentParser()
    options.add_argument("target", choices=list(TARGETS))
    options.add_argument("--runs", type=int, default=RUNS)
    given = options.parse_args()
    folder = WORK / given.target
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(given.target)):
        (corpus / f"seed-{number:04}").write_bytes(seed)
    dictionary = folder / "words"
    dictionary.write_text("".join(f'"{_escaped(word)}"\n' for word in words(given.target)))
    settings = [
        f"-runs={given.runs}", f"-max_len={LONGEST_INPUT[given.target]}", f"-dict={dictionary}",
        f"-artifact_prefix={folder}/", "-timeout=60", "-print_final_stats=1", "-verbosity=0", str(corpus),
    ]  # fmt: skip
    target = TARGETS[given.target]

    def timed(data: bytes) -> None:
        began = time.process_time()
        target(data)
        took = time.process_time() - began
        assert took < LONGEST_S, f"one input took {took:.1f} s"

    mutator = MUTATORS.get(given.target)

    def changed(data: bytes, max_size: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if mutator is None or chance.random() < 0.3:
            return bytes(atheris.Mutate(data, max_size))
        return mutator(data, chance)

    atheris.Setup([sys.argv[0], *settings], timed, **({"custom_mutator": changed} if mutator else {}))
    atheris.Fuzz()


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    main()
