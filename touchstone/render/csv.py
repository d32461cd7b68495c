"""Tables for a spreadsheet, canonical values in any language: a run, a line per row and repeat; a comparison,
a line per row.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from touchstone.baseline.comparison import Comparison
from touchstone.files import canonical
from touchstone.render.comparison import ROW_ORDER
from touchstone.render.plain import one_line
from touchstone.result.schema import Repeat, ResultDoc, Row

TEXT_WIDTH = 2_000

Value = str | int | float | bool | None

_FORMULA_STARTS = ("=", "+", "-", "@", "|", "%", "＝", "＋", "－", "＠")


def result_csv(result: ResultDoc) -> str:
    """Header and lines. What is not known is an empty field, never a zero."""
    checks = list(
        dict.fromkeys(id_ for row in result.rows for repeat in row.repeats for id_ in repeat.checks)
    )
    return table_csv([_line(row, repeat, result, checks) for row in result.rows for repeat in row.repeats])


def comparison_csv(comparison: Comparison) -> str:
    """A line per row, worst first: its state, old and new score, and what moved."""
    reference = comparison.reference
    return table_csv(
        [
            {
                "run": comparison.candidate.run,
                "reference": reference.file if reference else None,
                "pack": comparison.pack,
                "status": comparison.status,
                "model": row.model,
                "variant": row.variant,
                "prompt": row.prompt,
                "state": row.state,
                "old_pct": row.old,
                "new_pct": row.new,
                "moved_by": "; ".join(row.moved_by) or None,
                "draws": row.draws,
                "confirmed": row.confirmed,
                "same_answer": row.same_answer,
                "reason": row.reason,
            }
            for row in sorted(comparison.rows, key=lambda row: ROW_ORDER.index(row.state))
        ]
    )


def table_csv(lines: Sequence[Mapping[str, Value]]) -> str:
    """A header and a line each, `\\n` between them; the first line's keys are the header.

    A text that a spreadsheet would take for a formula gets an apostrophe in front.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_field(name) for name in (lines[0] if lines else {})])
    writer.writerows([_field(value) for value in line.values()] for line in lines)
    return out.getvalue()


def _line(row: Row, repeat: Repeat, result: ResultDoc, checks: Iterable[str]) -> dict[str, Value]:
    line: dict[str, Value] = {
        "run": result.run.id,
        "pack": result.provenance.pack_id,
        "model": row.model,
        "variant": row.variant,
        "category": row.category,
        "prompt": row.prompt,
        "repeat": repeat.repeat,
        "status": repeat.status,
        "verdict": repeat.verdict,
        "reason": repeat.reason,
        "row_state": row.state,
        "row_pct": row.pct,
        "row_below_line": row.below_line,
        "red_flag": repeat.red_flag,
        "label": repeat.label,
    }
    line |= {
        f"score.{dimension.id}": repeat.scores.get(dimension.id) for dimension in result.instrument.dimensions
    }
    for id_ in checks:
        found = repeat.checks.get(id_)
        line[f"check.{id_}"] = found.status if found else None
        line[f"check.{id_}.score"] = found.score if found else None
    return line | {
        "prompt_tokens": repeat.prompt_tokens,
        "completion_tokens": repeat.completion_tokens,
        "answer_chars": repeat.answer_chars,
        "answer_sha256": repeat.answer_sha256,
    }


def _field(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(canonical(value))
    told = one_line(value, TEXT_WIDTH)
    return f"'{told}" if told.startswith(_FORMULA_STARTS) else told
