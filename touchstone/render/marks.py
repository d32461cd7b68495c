"""The coloured sign of a status, never green where safety is in doubt, and which status speaks first."""

from __future__ import annotations

from touchstone.baseline.comparison import Comparison, Status

STATUS_ORDER: tuple[Status, ...] = (
    "worse", "refused", "not_judged", "not_comparable", "suspect", "promotion", "no_reference", "better",
    "within_noise", "unchanged",
)  # fmt: skip
"""What speaks first where several packs are told."""

_MARKS: dict[Status, str] = {
    "worse": "🔴", "refused": "🔴", "not_judged": "🟡", "not_comparable": "🟡", "suspect": "🟡",
    "promotion": "🔵", "no_reference": "⚪", "better": "🟢", "within_noise": "🟢", "unchanged": "🟢",
}  # fmt: skip
_UNCERTAIN_RULES = frozenset({"flag", "floor"})
_UNCERTAIN_NOTES = frozenset(
    {"safety_not_assessed", "red_flag_not_compared", "red_flag_unconfirmed", "judge_reads_otherwise"}
)


def is_uncertain(comparison: Comparison) -> bool:
    """Whether a red flag or a fall to the knock-out line was neither confirmed nor cleared."""
    doubted = any(suspicion.rule in _UNCERTAIN_RULES for suspicion in comparison.suspicions)
    return doubted or not _UNCERTAIN_NOTES.isdisjoint(comparison.notes)


def mark_of(status: Status, *, uncertain: bool) -> str:
    """A coloured sign; never green where safety is in doubt."""
    mark = _MARKS[status]
    return "🟡" if uncertain and mark == "🟢" else mark
