"""What a verb that measures leaves in the folders of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from touchstone.files import write_atomic, write_document
from touchstone.gate.runs import rationales_of
from touchstone.render.comparison import Answers
from touchstone.render.reading import Reading
from touchstone.render.report import report_text
from touchstone.render.report_rows import REPEATS_SHOWN_MAX, rows_with_answers
from touchstone.render.words import Language, Words
from touchstone.result.schema import ResultDoc
from touchstone.run.bundle import COMPARISON_NAME, REPORT_NAME, Bundle

if TYPE_CHECKING:
    from touchstone.baseline.comparison import Comparison
    from touchstone.gate.bench import Bench
    from touchstone.gate.check import PackCheck


def keep(checks: Sequence[PackCheck], bench: Bench) -> None:
    """Leave `comparison.json` and `report.md` in each run's folder; `result.json` is there already."""
    for check in checks:
        if check.bundle is None:
            continue
        if check.comparison is not None:
            write_document(check.bundle.path / COMPARISON_NAME, check.comparison.to_json())
        if check.result is not None:
            language = bench.config.language
            keep_report(check.bundle, check.result, language, check.comparison, check.answers())


def keep_report(
    bundle: Bundle,
    result: ResultDoc,
    language: Language,
    comparison: Comparison | None = None,
    both: Answers | None = None,
) -> None:
    """Leave `report.md` in the run's folder; of a large run only the answers that are shown are held.

    `comparison` is that with what the run is held against, `both` the answers of both sides by row key.
    """
    shown = rows_with_answers(result, Words(language))
    answers, rationales = bundle.answers(shown, REPEATS_SHOWN_MAX), rationales_of(bundle, shown)
    reading = Reading(result, answers, rationales, comparison=comparison, both=both or {})
    write_atomic(bundle.path / REPORT_NAME, report_text(reading, language))
