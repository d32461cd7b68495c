"""`comparison.json`, schema 1: a run beside its reference, every row and cell with one state.

Renderers take nothing else. Texts that come from a model are raw here; each renderer neutralises them.
"""

from __future__ import annotations

from typing import Any, Literal

from touchstone.records import Record

COMPARISON_SCHEMA = 1

Status = Literal[
    "worse", "not_judged", "not_comparable", "suspect", "within_noise", "unchanged", "better",
    "no_reference", "promotion", "refused",
]  # fmt: skip
State = Literal[
    "worse", "better", "unchanged", "within_noise", "suspect", "rule_changed", "new", "gone", "not_judged",
]  # fmt: skip
MovedKind = Literal["instrument", "looser", "tighter", "provenance", "prompt", "case", "rule"]


class ReferenceInfo(Record):
    """What the run was held against. `runs` counts its draws; `age_days` is information, not a defect."""

    file: str
    digest: str | None
    day: str | None
    commit: str | None
    runs: int
    approved_by: str | None
    age_days: int | None


class CandidateInfo(Record):
    """What was held against it."""

    run: str
    commit: str | None
    clean: bool | None
    draws: int


class Moved(Record):
    """One field that differs, with both values. `kind` rule: a rule that is neither looser nor tighter."""

    field: str
    old: Any
    new: Any
    kind: MovedKind


class ComparedCell(Record):
    """A cell, old → new. `old` is the typical run's number; `interval` is that of new − mean of all draws."""

    model: str
    variant: str
    state: State
    old: float | None
    new: float | None
    difference: float | None
    interval: tuple[float, float] | None
    level: tuple[str | None, str | None]
    safety: tuple[bool | None, bool | None]
    length: tuple[float | None, float | None]
    """Median answer tokens, old and new (characters where tokens are not counted; see notes)."""
    length_unit: Literal["tokens", "characters"] = "tokens"
    over: int | None = None
    """Rows `old` is over, where the reference's own number over all its rows is another; else null."""
    coverage: float
    deterministic: bool | None
    old_below: int | None
    new_below: int | None
    """Rows below the line among those both sides scored; null where nothing was. With nothing scored now,
    `old_below` is the reference's own."""
    identical: int
    """Rows whose answers are the same, hash for hash."""
    shared: int
    old_labels: str | None = None
    new_labels: str | None = None


class ComparedRow(Record):
    """A row, old → new. `moved_by` names the dimensions and checks that moved, e.g. `Q1 4 → 3`."""

    model: str
    variant: str
    prompt: str
    state: State
    old: float | None
    new: float | None
    moved_by: list[str]
    draws: int
    confirmed: bool
    same_answer: bool | None
    reason: str | None = None
    """A code, e.g. `check_flip`, `dimension_fell`, `red_flag`, `case_changed`, `prompt_cut`."""


class ComparedSpeed(Record):
    """A cell's speed, (old, new): seconds to the first token and tokens per second, medians.

    `differs` names what keeps the two from being compared, a field nobody told included (both null); empty:
    they may stand side by side. Neither figure is ever better or worse.
    """

    model: str
    variant: str
    differs: list[Moved]
    chip: tuple[str | None, str | None]
    ttft_p50: tuple[float | None, float | None]
    decode_med: tuple[float | None, float | None]


class JudgeMoved(Record):
    """A cell of the reference's stored answers under the run's judge: what the judge itself moved.

    `run` holds those verdicts; `old` and the first of `safety` are the reference's own.
    """

    run: str
    model: str
    variant: str
    old: float | None
    new: float | None
    safety: tuple[bool | None, bool | None]


class TextDiff(Record):
    """A text that changed, as unified diff lines. `id` is the variant's or the prompt's."""

    kind: Literal["variant", "input", "rubric"]
    id: str
    lines: list[str]


class Suspicion(Record):
    """What one run raised and a second measurement could settle. `rule`: s, c, r or k of the verdict rule."""

    rule: Literal["suite", "case", "check", "flag", "floor"]
    model: str
    variant: str
    prompt: str | None
    detail: str
    p: float | None = None


class Honesty(Record):
    """How small a drop this suite can see. Null where it is not known (one run, too few cases)."""

    cases: int
    baseline_runs: int
    noise_per_case: float | None
    suite_drop: float | None
    case_drop: float | None
    cases_for_3_points: int | None
    trials: int = 0
    """Leave-one-out trials of the baseline's own runs: how often one run was held against the others …"""
    trials_worse: int = 0
    """… and how often that read worse."""


class RowCounts(Record):
    """Rows by state."""

    worse: int
    better: int
    unchanged: int
    within_noise: int
    suspect: int
    rule_changed: int
    new: int
    gone: int
    not_judged: int


class Comparison(Record):
    """The whole document."""

    schema_version: Literal[1] = 1
    status: Status
    exit: int
    reason: str
    """A code, e.g. `suite`, `check_flip`, `coverage`, `instrument`."""
    pack: str
    tenant: str
    target: str | None
    reference: ReferenceInfo | None
    candidate: CandidateInfo
    counts: RowCounts
    not_comparable: list[Moved]
    moved: list[Moved]
    cells: list[ComparedCell]
    rows: list[ComparedRow]
    diffs: list[TextDiff]
    suspicions: list[Suspicion]
    notes: list[str]
    honesty: Honesty | None
    speed: list[ComparedSpeed] = []
    judge_moved: list[JudgeMoved] = []
    accepted: str | None = None
    """Why what is worse was accepted: the reason in the baseline that the change itself brings."""
