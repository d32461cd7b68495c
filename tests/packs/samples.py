"""The answers that lie beside the shipped packs, in `packs/samples/PACK.yaml`, and the packs themselves.

A sample file holds, for each prompt with checks, answers that pass all of them and for each check answers
that fail it (one text, or a list); for a labelled pack also answers and the class that is read from them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from touchstone.pack.load import load_pack
from touchstone.pack.schema import Pack, Prompt

ROOT = Path(__file__).parents[2]
PACKS = sorted((ROOT / "packs").glob("*.yaml"))


@cache
def packs() -> dict[str, Pack]:
    """Every shipped pack by the name of its file."""
    return {path.stem: load_pack(path).pack for path in PACKS}


@cache
def samples_of(name: str) -> dict[str, Any]:
    """Prompt id → {pass, fail}; nothing where the pack has no file of samples."""
    path = sample_file(name)
    return yaml.load(path.read_text(), Loader=yaml.CSafeLoader) if path.is_file() else {}


def sample_file(name: str) -> Path:
    """Where the samples of a pack lie."""
    return ROOT / "packs" / "samples" / f"{name}.yaml"


def checked_prompts(pack: Pack) -> dict[str, Prompt]:
    """The prompts with checks, by id."""
    return {prompt.id: prompt for _, prompt in pack.prompts() if prompt.checks}


def texts(entry: str | list[str]) -> list[str]:
    """One answer or several."""
    return [entry] if isinstance(entry, str) else entry
