"""What a report is made of: one run, what was said in it, and what it is held against where it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from touchstone.baseline.comparison import Comparison
from touchstone.render import comparison as beside
from touchstone.result.schema import ResultDoc

Answers = Mapping[tuple[str, str, str], Sequence[str]]
"""Per row key the answers of its repeats."""

Rationales = Mapping[tuple[str, str, str], Sequence[str | None]]
"""Per row key the judge's words on each repeat; null where it said none."""


@dataclass(frozen=True)
class Reading:
    """A run as a form of the report gets it.

    `rebuilt`: the run had no `result.json`. `comparison` is that with what it is held against, `both` the
    answers of both sides by row key. `checks` are the ids of those that count, per prompt.
    """

    result: ResultDoc
    answers: Answers = field(default_factory=dict)
    rationales: Rationales = field(default_factory=dict)
    rebuilt: bool = False
    comparison: Comparison | None = None
    both: beside.Answers = field(default_factory=dict)
    checks: Mapping[str, Sequence[str]] = field(default_factory=dict)
