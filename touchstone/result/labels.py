"""Agreement with the labels, for packs whose answers are classes."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.pack.suite import Suite
from touchstone.result.numbers import kept
from touchstone.result.schema import LabelReport, Ratio, Row


def label_report(rows: Sequence[Row], suite: Suite) -> LabelReport | None:
    """Accuracy, and precision, recall and F1 of the positive class, over a cell's scored rows.

    Each answer counts once. Rows in error, an answer without a class among them, are left out here as
    they are from the pct, and counted as errors there. Null for packs without labels.
    """
    labels = suite.instrument.labels
    if labels is None:
        return None
    pairs = _pairs(rows, suite)
    said = sum(answer == labels.positive for answer, _ in pairs)
    due = sum(expected == labels.positive for _, expected in pairs)
    hits = sum(answer == expected == labels.positive for answer, expected in pairs)
    return LabelReport(
        accuracy=ratio(sum(answer == expected for answer, expected in pairs), len(pairs)),
        precision=ratio(hits, said),
        recall=ratio(hits, due),
        f1=ratio(2 * hits, said + due).value,
    )


def ratio(hits: int, of: int) -> Ratio:
    """The share with its counts; null of nothing."""
    return Ratio(value=kept(hits / of) if of else None, hits=hits, of=of)


def _pairs(rows: Sequence[Row], suite: Suite) -> list[tuple[str | None, str]]:
    """(class said, class expected) of every answer that counts."""
    return [
        (repeat.label, expected)
        for row in rows
        if row.pct is not None and (expected := suite.cases[row.prompt].rubric.label) is not None
        for repeat in row.repeats
    ]
