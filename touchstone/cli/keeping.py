"""What a check leaves in the folders of its runs."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.files import write_atomic, write_document
from touchstone.gate.bench import Bench
from touchstone.gate.check import PackCheck
from touchstone.gate.runs import rationales_of
from touchstone.render.reading import Reading
from touchstone.render.report import report_text
from touchstone.render.report_rows import REPEATS_SHOWN_MAX, rows_with_answers
from touchstone.render.words import Words
from touchstone.run.bundle import COMPARISON_NAME, REPORT_NAME


def keep(checks: Sequence[PackCheck], bench: Bench) -> None:
    """Leave `comparison.json` and `report.md` in each run's folder; `result.json` is there already."""
    for check in checks:
        if check.bundle is None:
            continue
        if check.comparison is not None:
            write_document(check.bundle.path / COMPARISON_NAME, check.comparison.to_json())
        if check.result is not None:
            shown = rows_with_answers(check.result, Words(bench.config.language))
            reading = Reading(
                check.result,
                check.bundle.answers(shown, REPEATS_SHOWN_MAX),
                rationales_of(check.bundle, shown),
                comparison=check.comparison,
                both=check.answers(),
            )
            write_atomic(check.bundle.path / REPORT_NAME, report_text(reading, bench.config.language))
