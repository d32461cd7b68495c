"""What a run is held against, at the top of its report: the verdict, old → new, and the prompt's diff."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from touchstone.baseline.comparison import ComparedRow, Comparison
from touchstone.render.comings import COMINGS, comings
from touchstone.render.comparison import (
    Answers,
    first_change,
    moved_rows,
    reference_lines,
    safety_warnings,
    state_words,
    status_line,
)
from touchstone.render.flavour import GITHUB, Flavour
from touchstone.render.markdown import block, sentence
from touchstone.render.marks import is_uncertain, mark_of
from touchstone.render.note_lines import note_lines, open_lines
from touchstone.render.phrases import phrase
from touchstone.render.reading import Reading
from touchstone.render.rejudged import judge_moved_lines
from touchstone.render.review_phrases import review_phrase
from touchstone.render.review_tables import cell_table, moved_list, row_table, scores
from touchstone.render.review_texts import prompt_diff
from touchstone.render.speed import speed_lines
from touchstone.render.words import Words

MOST = 100_000
"""A file has room for everything that a comment leaves out."""
ANSWERS_SHOWN_MAX = 50


def against_lines(reading: Reading, words: Words, flavour: Flavour) -> list[str]:
    """The whole section, the run's own title below it; nothing where the run stands alone."""
    comparison = reading.comparison
    if comparison is None:
        return []
    rows = moved_rows(comparison)
    sections = [
        *_head(comparison, words, flavour),
        *_moved(comparison, words),
        cell_table(comparison.cells, words, MOST) if comparison.cells else [],
        *(prompt_diff(diff, words, MOST) for diff in comparison.diffs),
        *_judge_moved(comparison, words),
        [f"- {sentence(line)}" for line in speed_lines(comparison.speed, words)],
        row_table(rows, words, MOST, several=_has_several_models(comparison)) if rows else [],
        *_answers(rows, reading.both, words, flavour),
        [
            f"- {sentence(line)}"
            for line in (*note_lines(comparison, words, variants=False), *open_lines(comparison, words))
        ],
        [f"# {words['the_run']}"],
    ]
    return [line for section in sections if section for line in (*section, "")]


def scorecard_lines(reading: Reading, words: Words) -> list[str]:
    """The verdict and the cells, old → new; nothing where the run stands alone."""
    comparison = reading.comparison
    if comparison is None:
        return []
    head = [*_head(comparison, words, GITHUB), *_moved(comparison, words)]
    cells = cell_table(comparison.cells, words, MOST) if comparison.cells else []
    return [line for section in (*head, cells) if section for line in (*section, "")]


def _head(comparison: Comparison, words: Words, flavour: Flavour) -> Iterator[Sequence[str]]:
    mark = mark_of(comparison.status, uncertain=is_uncertain(comparison))
    yield [f"# {mark} {sentence(status_line(comparison, words))}"]
    for warning in safety_warnings(comparison, words):
        yield flavour.notice("danger", warning)[:-1]
    for state in COMINGS:
        if ids := comings(comparison, state, words):
            yield [sentence(review_phrase(words, f"{state}_ids", ids=", ".join(ids)))]
    yield [f"- {sentence(line)}" for line in reference_lines(comparison, words)]


def _moved(comparison: Comparison, words: Words) -> Iterator[Sequence[str]]:
    others = [moved for moved in comparison.moved if moved.kind not in {"prompt", "case"}]
    for key, moves in (("not_comparable", comparison.not_comparable), ("else_moved", others)):
        if moves:
            yield [review_phrase(words, key), "", *moved_list(moves, words, MOST)]


def _judge_moved(comparison: Comparison, words: Words) -> Iterator[Sequence[str]]:
    if lines := judge_moved_lines(comparison.judge_moved, words):
        yield [sentence(lines[0]), "", *(f"- {sentence(line)}" for line in lines[1:])]


def _has_several_models(comparison: Comparison) -> bool:
    return len({row.model for row in comparison.rows}) > 1


def _answers(
    rows: Sequence[ComparedRow], both: Answers, words: Words, flavour: Flavour
) -> Iterator[Sequence[str]]:
    """Both answers of the worst rows that have other ones: the first repeat that differs."""
    changed = [row for row in rows if row.same_answer is False and all(both.get(_key(row), ((), ())))]
    several = len({row.model for row in rows}) > 1
    for row in changed[:ANSWERS_SHOWN_MAX]:
        old, new = first_change(*both[_key(row)])
        name = " · ".join([row.prompt, row.variant, *([row.model] if several else [])])
        title = f"{scores(row, words)}, {state_words(row, words)}"
        told = [(phrase(words, "old_answer"), old), (phrase(words, "new_answer"), new)]
        lines = [line for head, text in told for line in (f"**{head}**", "", *block(text), "")]
        yield flavour.folded(name, title, lines[:-1])[:-1]


def _key(row: ComparedRow) -> tuple[str, str, str]:
    return (row.model, row.variant, row.prompt)
