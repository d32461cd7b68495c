"""A run as a table for a spreadsheet: one line per row and repeat, canonical values in any language."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from touchstone.files import canonical
from touchstone.render.plain import one_line
from touchstone.result.schema import Repeat, ResultDoc, Row

TEXT_WIDTH = 2_000

Value = str | int | float | bool | None

_FORMULA_STARTS = ("=", "+", "-", "@", "|", "%", "＝", "＋", "－", "＠")


def result_csv(result: ResultDoc) -> str:
    """Header and lines, `\\n` between them. What is not known is an empty field, never a zero.

    A text that a spreadsheet would take for a formula gets an apostrophe in front.
    """
    checks = list(
        dict.fromkeys(id_ for row in result.rows for repeat in row.repeats for id_ in repeat.checks)
    )
    lines = [_line(row, repeat, result, checks) for row in result.rows for repeat in row.repeats]
    out = io.StringIO()
    header = lines[0] if lines else {}
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_field(name) for name in header])
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
        "row_below_line": row.below_line if row.state else None,
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
