"""Numbers as they are printed. A missing value is never a zero."""

from __future__ import annotations

from touchstone.render.words import Words
from touchstone.result.schema import LabelReport, Ratio, Tally

BANDS = (85.0, 70.0, 50.0)
BAND_NEAR = 0.05


def percent(value: float | None, words: Words) -> str:
    """One decimal and a percent sign; two decimals next to a band, where one would hide the side."""
    if value is None:
        return words["na"]
    near = any(abs(value - band) < BAND_NEAR and value != band for band in BANDS)
    return _local(f"{value:.2f}" if near else f"{value:.1f}", words) + " %"


def points(value: float, words: Words) -> str:
    """A difference in points, with its sign."""
    # What rounds to nothing has no sign to show but the usual one.
    return _local(f"{round(value, 1) + 0.0:+.1f}".replace("-", "−"), words)


def number(value: float | None, words: Words, decimals: int = 0, unit: str = "") -> str:
    """A plain number with its unit."""
    if value is None:
        return words["na"]
    return _local(f"{value:.{decimals}f}", words) + (f" {unit}" if unit else "")


def tally(value: Tally) -> str:
    """So many of so many."""
    return f"{value.passed}/{value.of}"


def ratio(value: Ratio, words: Words) -> str:
    """A share with its counts: `0.667 (10/15)`."""
    shown = words["na"] if value.value is None else _local(f"{value.value:.3f}", words)
    return f"{shown} ({value.hits}/{value.of})"


def labels(report: LabelReport, words: Words) -> str:
    """Precision, recall, F1 and accuracy, each with what it counts."""
    # The positive class on either side: what was called it, and what is it.
    found = Ratio(
        value=report.f1,
        hits=2 * report.precision.hits,
        of=report.precision.of + report.recall.of,
    )
    return (
        f"precision {ratio(report.precision, words)}, recall {ratio(report.recall, words)}, "
        f"F1 {ratio(found, words)}, accuracy {ratio(report.accuracy, words)}"
    )


def _local(text: str, words: Words) -> str:
    return text.replace(".", ",") if words.language == "de" else text
