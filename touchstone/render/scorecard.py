"""A run on one short table: the report's first lines and its cells."""

from __future__ import annotations

from touchstone.render.report import cell_table, counts_line, incomplete_notice, judge_line, length_lines
from touchstone.render.words import Language, Words
from touchstone.result.schema import ResultDoc


def scorecard_markdown(result: ResultDoc, language: Language = "en") -> str:
    """Counts, judge, a line per model and variant, and what to know of their lengths."""
    words = Words(language)
    lines = [
        counts_line(result, words),
        "",
        judge_line(result, words),
        "",
        *incomplete_notice(result, words),
        *cell_table(result, words),
        "",
        *length_lines(result, words),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"
