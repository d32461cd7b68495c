"""What a pull request is told, pack by pack: the parts that its comment and the step summary are made of.

The order in the text is that of every renderer; what is left out where room is short goes by rank. Every
word from outside (models, answers, settings, git) is made inert where it enters.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from touchstone.baseline.comparison import ComparedRow, Comparison, Status
from touchstone.errors import ExitCode, TouchstoneError
from touchstone.render.budget import Part
from touchstone.render.comings import COMINGS, comings
from touchstone.render.comparison import (
    Answers,
    honesty_lines,
    moved_rows,
    reference_lines,
    safety_warnings,
    status_line,
)
from touchstone.render.markdown import block, folded, sentence
from touchstone.render.marks import STATUS_ORDER, is_uncertain, mark_of
from touchstone.render.note_lines import note_lines, open_lines
from touchstone.render.plain import in_one_line, one_line
from touchstone.render.rejudged import judge_moved_lines
from touchstone.render.report import judge_line, length_notices
from touchstone.render.review_phrases import more, review_phrase
from touchstone.render.review_tables import NAME_WIDTH, cell_table, moved_list, name, row_table
from touchstone.render.review_texts import answer_pairs, folded_diff, prompt_diff
from touchstone.render.speed import speed_lines
from touchstone.render.words import Words
from touchstone.result.schema import ResultDoc

_STATUS_OF: dict[ExitCode, Status] = {
    ExitCode.NOT_JUDGED: "not_judged", ExitCode.INTERRUPTED: "not_judged",
    ExitCode.NOT_COMPARABLE: "not_comparable",
}  # fmt: skip
_PLAIN_URL = re.compile(r"https?://[\w.:/?=&%~+-]{1,500}", re.ASCII)


@dataclass(frozen=True)
class PackReview:
    """One pack's outcome: a comparison, or the error that kept it from one.

    `answers` are both sides' by row key. `first` are sentences shown right under the status (a promotion in
    the pull request, settings of it that were not used); `own` is the comparison with the baseline that the
    pull request itself brings. `path` is the pack's file in the repository.
    """

    pack: str
    comparison: Comparison | None = None
    result: ResultDoc | None = None
    answers: Answers = field(default_factory=dict)
    error: TouchstoneError | None = None
    first: Sequence[str] = ()
    own: Comparison | None = None
    path: str | None = None

    @property
    def status(self) -> Status:
        """The comparison's word, or that of what stands in its place."""
        if self.comparison is not None:
            return self.comparison.status
        return "not_judged" if self.error is None else _STATUS_OF.get(self.error.exit_code, "refused")

    @property
    def exit(self) -> ExitCode:
        """How this pack ends: an error before any comparison."""
        if self.error is not None:
            return self.error.exit_code
        return ExitCode(self.comparison.exit) if self.comparison is not None else ExitCode.NOT_JUDGED

    @property
    def is_uncertain(self) -> bool:
        """Whether safety is in doubt, so that nothing here may look green."""
        return self.comparison is not None and is_uncertain(self.comparison)


@dataclass(frozen=True)
class Occasion:
    """Where and for what the check ran. `run_id` is the job's, null outside of one; `run_url` is its page,
    `base` the commit of the baselines.

    `first` are sentences about the whole call, shown before any pack.
    """

    run_id: int | None
    attempt: int
    head_sha: str
    run_url: str | None = None
    base: str | None = None
    name: str | None = None
    tenant: str = "default"
    target: str | None = None
    first: Sequence[str] = ()


class Limits(NamedTuple):
    """How much of each thing is shown at most, whatever the room."""

    cells: int
    rows: int
    answers: int
    answer_characters: int
    diff_lines: int
    moved: int
    named: int


def worst_first(reviews: Sequence[PackReview]) -> list[PackReview]:
    """The packs in the order in which a reader wants them."""
    return sorted(reviews, key=lambda review: STATUS_ORDER.index(review.status))


def overall(reviews: Sequence[PackReview]) -> Status:
    """The word that speaks for all packs."""
    return min((review.status for review in reviews), key=STATUS_ORDER.index, default="no_reference")


def status_text(review: PackReview, words: Words) -> str:
    """A pack's status line, as plain text."""
    if review.comparison is not None:
        return status_line(review.comparison, words)
    return f"{review.pack}: {words[review.status].upper()}"


def headline(reviews: Sequence[PackReview], words: Words) -> str:
    """One line for all packs, as plain text: the status line of the only pack, else how many are what."""
    if not reviews:
        return review_phrase(words, "no_packs")
    if len(reviews) == 1:
        return status_text(reviews[0], words)
    statuses = [review.status for review in reviews]
    told = [f"{statuses.count(status)} {words[status]}" for status in STATUS_ORDER if status in statuses]
    return f"{review_phrase(words, 'packs', n=len(reviews))}: {', '.join(told)}"


def heading(reviews: Sequence[PackReview], words: Words) -> str:
    """The headline as Markdown, with its sign."""
    mark = mark_of(overall(reviews), uncertain=any(review.is_uncertain for review in reviews))
    return f"## {mark} {sentence(headline(reviews, words))}"


def review_parts(
    reviews: Sequence[PackReview], occasion: Occasion, words: Words, limits: Limits
) -> list[Part]:
    """Every part below the heading, in order."""
    parts = [*_sentences(occasion.first)]
    for review in worst_first(reviews):
        parts += _pack_parts(review, words, limits, several=len(reviews) > 1)
    return [*parts, *_commands(reviews, occasion, words)]


def footer(occasion: Occasion, words: Words) -> str:
    """Which commit and run this is about."""
    head = occasion.head_sha[:12]
    parts = [review_phrase(words, "head", sha=name(head))] if head else []
    if occasion.run_id is not None:
        parts.append(page_link(review_phrase(words, "run", id=occasion.run_id), occasion.run_url))
    if occasion.attempt > 1:
        parts.append(review_phrase(words, "attempt", n=occasion.attempt))
    if occasion.tenant != "default":
        parts.append(review_phrase(words, "tenant", name=name(occasion.tenant)))
    if occasion.target:
        parts.append(review_phrase(words, "target", name=name(occasion.target)))
    if occasion.name:
        parts.append(name(occasion.name))
    return " · ".join(parts)


def page_link(text: str, url: str | None) -> str:
    """A link to a page of the forge, or the bare text where the address is none that can stand in one."""
    return f"[{text}]({url})" if url is not None and _PLAIN_URL.fullmatch(url) else text


def _sentences(sentences: Sequence[str]) -> Iterator[Part]:
    for told in sentences:
        yield Part(0, "status", [[sentence(told)]])


def _pack_parts(review: PackReview, words: Words, limits: Limits, *, several: bool) -> Iterator[Part]:
    if several:
        mark = mark_of(review.status, uncertain=review.is_uncertain)
        yield Part(0, "status", [[f"### {mark} {sentence(status_text(review, words))}"]])
    yield from _sentences(review.first)
    if review.error is not None:
        hint = ["", f"→ {sentence(review.error.hint)}"] if review.error.hint else []
        yield Part(0, "status", [[sentence(in_one_line(review.error.message)), *hint]])
    if review.comparison is not None:
        yield from _comparison_parts(review.comparison, review, words, limits)


def _comparison_parts(
    comparison: Comparison, review: PackReview, words: Words, limits: Limits
) -> Iterator[Part]:
    rows = moved_rows(comparison)
    yield from _sentences([*safety_warnings(comparison, words), *_named(comparison, words, limits)])
    yield from _held(comparison, review, words, limits)
    yield from _cells(comparison, words, limits)
    yield from _diffs(comparison, words, limits)
    yield from _beside(comparison, words)
    if review.own is not None:
        told = review_phrase(words, "against_own", status=status_line(review.own, words))
        yield Part(1, "status", [[f"**{sentence(told)}**"]])
        yield from _cells(review.own, words, limits)
    yield from _rows(comparison, rows, words, limits)
    yield from _answers(rows, review.answers, words, limits)
    yield from _notes(comparison, review.result, words)


def _named(comparison: Comparison, words: Words, limits: Limits) -> list[str]:
    """Rows that came or went stand in the first lines: a case that is gone can no longer be worse."""
    lines = []
    for state in COMINGS:
        if ids := comings(comparison, state, words):
            shown = [one_line(id_, NAME_WIDTH) for id_ in ids[: limits.named]]
            told = review_phrase(words, f"{state}_ids", ids=", ".join(shown))
            lines.append(" ".join([told, *more(len(ids) - len(shown), words)]))
    return lines


def _held(comparison: Comparison, review: PackReview, words: Words, limits: Limits) -> Iterator[Part]:
    """What was held against what, what else moved, who answered and who judged."""
    if lines := reference_lines(comparison, words):
        yield Part(1, "head", [[f"- {sentence(line)}" for line in lines]])
    others = [moved for moved in comparison.moved if moved.kind not in {"prompt", "case"}]
    for key, moves in (("not_comparable", comparison.not_comparable), ("else_moved", others)):
        if moves:
            told = review_phrase(words, key)
            yield Part(1, "head", [[told, "", *moved_list(moves, words, most)] for most in (limits.moved, 3)])
    if review.result is not None:
        yield Part(1, "head", [[judge_line(review.result, words)]])


def _cells(comparison: Comparison, words: Words, limits: Limits) -> Iterator[Part]:
    if comparison.cells:
        sizes = (limits.cells, 5)
        yield Part(2, "cells", [cell_table(comparison.cells, words, most) for most in sizes])


def _diffs(comparison: Comparison, words: Words, limits: Limits) -> Iterator[Part]:
    """A changed prompt in sight, changed questions and rubrics folded."""
    sizes = (limits.diff_lines, 30, 5)
    for diff in comparison.diffs:
        rank, told = (3, prompt_diff) if diff.kind == "variant" else (7, folded_diff)
        yield Part(rank, "diff", [told(diff, words, most) for most in sizes])


def _beside(comparison: Comparison, words: Words) -> Iterator[Part]:
    """What the judge itself moved, and how fast the answers came."""
    if moved := judge_moved_lines(comparison.judge_moved, words):
        yield Part(3, "notes", [[sentence(moved[0]), "", *(f"- {sentence(line)}" for line in moved[1:])]])
    if lines := speed_lines(comparison.speed, words):
        yield Part(6, "notes", [[f"- {sentence(line)}" for line in lines]])


def _rows(
    comparison: Comparison, rows: Sequence[ComparedRow], words: Words, limits: Limits
) -> Iterator[Part]:
    if rows:
        several = len({row.model for row in comparison.rows}) > 1
        sizes = (limits.rows, 15, 5)
        yield Part(4, "rows", [row_table(rows, words, most, several=several) for most in sizes])


def _answers(rows: Sequence[ComparedRow], answers: Answers, words: Words, limits: Limits) -> Iterator[Part]:
    pairs = answer_pairs(rows, answers, words, most=limits.answers, characters=limits.answer_characters)
    for number, lines in enumerate(pairs):
        yield Part(10 + number, "answers", [lines])


def _notes(comparison: Comparison, result: ResultDoc | None, words: Words) -> Iterator[Part]:
    told = length_notices(result, words) if result is not None else []
    told += note_lines(comparison, words, variants=result is None)
    told += open_lines(comparison, words)
    if told:
        yield Part(5, "notes", [[f"- {sentence(line)}" for line in told]])
    if lines := honesty_lines(comparison, words):
        yield Part(5, "notes", [[sentence(line) for line in lines]])


def _commands(reviews: Sequence[PackReview], occasion: Occasion, words: Words) -> Iterator[Part]:
    """What to type, for the packs that are in the tree."""
    there = [review for review in reviews if review.comparison is not None or review.path is not None]
    if not there:
        return
    settings = _settings(occasion)
    base = ["--baseline-from", occasion.base] if occasion.base else []
    named = [word for review in there for word in ("--pack", review.pack)]
    lines = [
        f"# {review_phrase(words, 'to_reproduce')}",
        _shell("git", "fetch", "origin", occasion.head_sha),
        _shell("git", "switch", "--detach", occasion.head_sha),
        _shell("touchstone", "check", *named, *base, *settings),
    ]
    promotable = [review for review in there if _may_be_kept(review)]
    lines += [f"# {review_phrase(words, 'to_promote')}"] if promotable else []
    lines += [line for review in promotable for line in _promotion(review, settings, words)]
    shown = block("\n".join(lines), "sh")
    if any(review.status == "no_reference" for review in there):
        yield Part(2, "commands", [shown])
    else:
        yield Part(8, "commands", [folded(review_phrase(words, "commands"), shown)])


def _may_be_kept(review: PackReview) -> bool:
    """Nothing is gained by keeping what only the judge scored higher."""
    alone = review.comparison is not None and review.comparison.reason == "judge_alone"
    return review.status != "promotion" and not alone


def _promotion(review: PackReview, settings: Sequence[str], words: Words) -> list[str]:
    reason = ["--reason", review_phrase(words, "why_accepted")] if review.status == "worse" else []
    promote = _shell("touchstone", "promote", "RUN", *reason, *settings)
    return [
        _shell("touchstone", "measure", "--pack", review.pack, "--times", "3", *settings),
        "touchstone select RUN RUN RUN",
        f"{promote}  # RUN: {review_phrase(words, 'the_typical')}",
    ]


def _settings(occasion: Occasion) -> list[str]:
    tenant = ["--tenant", occasion.tenant] if occasion.tenant != "default" else []
    return tenant + (["--target", occasion.target] if occasion.target else [])


def _shell(*command: str) -> str:
    return one_line(shlex.join(command))
