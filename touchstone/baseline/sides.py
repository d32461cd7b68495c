"""A side of a comparison: what was asked, under which rules, and every draw of every row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from touchstone.baseline.schema import KeptGit, KeptProvenance
from touchstone.pack.suite import Hashes, Suite
from touchstone.result.schema import Row

RowKey = tuple[str, str, str]
"""(model, variant, prompt)."""


@dataclass(frozen=True)
class Side:
    """A baseline, or one or more runs, ready to be compared.

    `draws` holds every run's rows, scored under `suite.rules`; `typical` is the index of the run whose
    numbers are shown. `answers` are that run's texts, one per repeat; null where they were not kept.
    """

    suite: Suite
    hashes: Hashes
    tenant: str
    target: str | None
    draws: tuple[tuple[Row, ...], ...]
    typical: int
    provenance: KeptProvenance
    day: str | None
    git: KeptGit
    answers: Mapping[RowKey, list[str]] | None
    run_ids: list[str]
