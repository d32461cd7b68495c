"""The one comment of a pull request: a section per pack, within the forge's limit whatever the models say.

The forge puts its own hidden line above, by which the comment is found again. The text's first line is
hidden too: the worst that was said of this commit, so that a new attempt cannot make it forgotten.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from touchstone.baseline.comparison import Comparison, Status
from touchstone.render.budget import fitted, size_of
from touchstone.render.markdown import sentence
from touchstone.render.marks import STATUS_ORDER, is_uncertain
from touchstone.render.review import (
    Limits,
    Occasion,
    PackReview,
    footer,
    heading,
    overall,
    page_link,
    review_parts,
)
from touchstone.render.review_phrases import review_phrase
from touchstone.render.words import Language, Words

COMMENT_BUDGET = 60_000
"""Characters and bytes, the forge's hidden line included."""
MARK_ROOM = 2_000
"""What is kept free of it for that line."""
LEFT_OUT_ROOM = 1_000
LIMITS = Limits(cells=40, rows=50, answers=12, answer_characters=1_500, diff_lines=120, moved=20, named=30)

_QUIET = frozenset({"unchanged", "within_noise"})
_WORST = re.compile(r"^<!-- touchstone:worst head=([0-9a-f]*) status=([a-z_]+) -->$", re.MULTILINE)
_HIDDEN_LINES = 3


def comment_text(
    reviews: Sequence[PackReview],
    occasion: Occasion,
    language: Language = "en",
    earlier: str | None = None,
) -> str:
    """The comment's body. `earlier` is the body of our comment that it takes the place of."""
    words = Words(language)
    said = worst_said(earlier or "", occasion.head_sha)
    top = [_hidden(_worse_of(overall(reviews), said), occasion), heading(reviews, words), ""]
    if said is not None and _worse_of(said, overall(reviews)) != overall(reviews):
        top += [sentence(review_phrase(words, "earlier", status=words[said])), ""]
    bottom = [footer(occasion, words)]
    room = COMMENT_BUDGET - MARK_ROOM - LEFT_OUT_ROOM - size_of([*top, *bottom])
    lines, left_out = fitted(review_parts(reviews, occasion, words, LIMITS), room)
    where = page_link(review_phrase(words, "the_summary"), occasion.run_url)
    return "\n".join([*top, *lines, *left_out_lines(left_out, where, words), *bottom]) + "\n"


def preview_text(review: PackReview, head_sha: str, language: Language = "en") -> str:
    """The comment that a pull request with this outcome would get, as a person reads it."""
    text = comment_text([review], Occasion(run_id=None, attempt=1, head_sha=head_sha), language)
    return text.split("\n", 1)[1]


def worth_posting(comparisons: Sequence[Comparison | None], existing: bool) -> bool:
    """Whether `comment: auto` posts: silent only where nothing moved and there is no comment to bring up to
    date. None stands for a pack that an error kept from a comparison.
    """
    return existing or any(found is None or _tells(found) for found in comparisons)


def worst_said(body: str, head_sha: str) -> Status | None:
    """The worst that a comment of ours has said of this commit; None where it was about another."""
    found = _WORST.search("\n".join(body.splitlines()[:_HIDDEN_LINES]))
    if found is None or found[1] != head_sha:
        return None
    return next((status for status in STATUS_ORDER if status == found[2]), None)


def left_out_lines(left_out: Counter[str], where: str, words: Words) -> list[str]:
    """What had no room, and where it is; `where` is taken as Markdown."""
    if not left_out:
        return []
    parts = ", ".join(review_phrase(words, f"kind_{kind}", n=n) for kind, n in left_out.items())
    return [review_phrase(words, "left_out", parts=parts, where=where), ""]


def _hidden(status: Status, occasion: Occasion) -> str:
    head = occasion.head_sha if re.fullmatch("[0-9a-f]{1,64}", occasion.head_sha) else ""
    return f"<!-- touchstone:worst head={head} status={status} -->"


def _worse_of(one: Status, other: Status | None) -> Status:
    return one if other is None else min(one, other, key=STATUS_ORDER.index)


def _tells(comparison: Comparison) -> bool:
    """Whether a prompt, rule, case, field of provenance or a state moved, or anything is worse, flagged or
    in error.
    """
    moved = comparison.moved or comparison.not_comparable or comparison.diffs or comparison.suspicions
    states = {comparison.status, *(row.state for row in comparison.rows)}
    states |= {cell.state for cell in comparison.cells}
    return bool(moved) or not states <= _QUIET or is_uncertain(comparison)
