"""Agreement with the labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.kit.builders import Repeats, checks_suite, labelled_suite, result
from touchstone.result.schema import LabelReport, ResultDoc


def report_of(
    expected: Mapping[str, str], said: Mapping[str, Any], **others: Any
) -> tuple[LabelReport, ResultDoc]:
    document = result(labelled_suite(expected, **others), said)
    labels = document.cells[0].labels
    assert labels is not None
    return labels, document


def pct_of(document: ResultDoc) -> float | None:
    quality = document.cells[0].quality
    assert quality is not None
    return quality.pct


def newsletter() -> tuple[dict[str, str], dict[str, Any]]:
    """21 articles: 10 found, 5 wrongly taken, 6 rightly left."""
    expected = {f"N{n}": "relevant" if n <= 10 else "other" for n in range(1, 22)}
    said: dict[str, Any] = {f"N{n}": "relevant" if n <= 15 else "other" for n in range(1, 22)}
    return expected, said


def test_precision_10_of_15_and_accuracy_16_of_21() -> None:
    labels, document = report_of(*newsletter())
    assert (labels.precision.hits, labels.precision.of) == (10, 15)
    assert round(labels.precision.value or 0, 3) == 0.667
    assert (labels.accuracy.hits, labels.accuracy.of) == (16, 21)
    assert round(labels.accuracy.value or 0, 3) == 0.762
    assert (labels.recall.value, labels.recall.hits, labels.recall.of) == (1.0, 10, 10)
    assert labels.f1 == 0.8
    assert round(pct_of(document) or 0, 4) == round(100 * 16 / 21, 4)


def test_nothing_said_positive_has_no_precision() -> None:
    labels, _ = report_of({"A": "other", "B": "relevant"}, {"A": "other", "B": "other"})
    assert (labels.precision.value, labels.precision.of) == (None, 0)
    assert (labels.recall.value, labels.recall.of) == (0.0, 1)
    assert labels.f1 == 0.0


def test_without_positives_there_is_no_recall_and_no_f1() -> None:
    labels, _ = report_of({"A": "other"}, {"A": "other"})
    assert (labels.precision.value, labels.recall.value, labels.f1) == (None, None, None)
    assert labels.accuracy.value == 1.0


def test_an_answer_without_a_class_is_left_out_and_counted_as_an_error() -> None:
    expected, said = newsletter()
    labels, document = report_of(expected, said | {"N1": None})
    assert (labels.accuracy.hits, labels.accuracy.of) == (15, 20)
    assert (labels.recall.hits, labels.recall.of) == (9, 9)
    assert document.cells[0].counts.error == 1
    assert pct_of(document) == 75.0


def test_each_repeat_counts_once() -> None:
    labels, _ = report_of({"A": "relevant"}, {"A": Repeats(["relevant", "other", "relevant"])}, repeats=3)
    assert (labels.accuracy.hits, labels.accuracy.of) == (2, 3)


def test_a_row_with_one_unreadable_repeat_is_left_out_whole() -> None:
    labels, document = report_of(
        {"A": "relevant", "B": "other"}, {"A": Repeats(["relevant", None]), "B": "other"}, repeats=2
    )
    assert (labels.accuracy.hits, labels.accuracy.of) == (2, 2)
    assert pct_of(document) == 100.0


def test_nothing_scored_is_null_everywhere() -> None:
    labels, _ = report_of({"A": "relevant"}, {"A": None})
    assert (labels.accuracy.value, labels.precision.value, labels.recall.value, labels.f1) == (None,) * 4


def test_a_pack_without_labels_has_no_report() -> None:
    assert result(checks_suite(["A"]), {"A": 1.0}).cells[0].labels is None
