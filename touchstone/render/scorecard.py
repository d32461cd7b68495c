"""A run on one short table: the report's first lines and its cells, old → new where it is held against
something.
"""

from __future__ import annotations

from touchstone.render.against import scorecard_lines
from touchstone.render.reading import Reading
from touchstone.render.report import cell_table, counts_line, incomplete_notice, judge_line, length_lines
from touchstone.render.words import Language, Words


def scorecard_markdown(reading: Reading, language: Language = "en") -> str:
    """Counts, judge, a line per model and variant, and what to know of their lengths."""
    words, result = Words(language), reading.result
    lines = [
        *scorecard_lines(reading, words),
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
