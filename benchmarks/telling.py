"""What the words cost: a pull request's comment and a page, by the number of rows.

Every row moved, every answer is another one of 2,000 characters with letters outside ASCII, the prompt
changed: the most there is to tell.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from benchmarks.figure import Effort, Row, cpu_seconds, times
from tests.kit import builders, pages, reviews
from tests.kit.compared import baseline, compared, repeating
from touchstone.render.comment import comment_text
from touchstone.render.page import page_html
from touchstone.render.review import PackReview
from touchstone.render.summary import summary_text

COMMENT_TARGET_S = 0.3
PAGE_TARGET_S = 2.0
ROWS = 2_000
ANSWER_CHARACTERS = 2_000
TEXTS: tuple[tuple[str, Callable[..., str], float | None], ...] = (
    ("comment", comment_text, COMMENT_TARGET_S),
    ("step summary", summary_text, None),
)


def comment(effort: Effort) -> Iterator[Row]:
    """The comment and the step summary."""
    told = {rows: [review(rows)] for rows in (ROWS, *([10 * ROWS] if effort.tenfold else []))}
    for name, text_of, target in TEXTS:
        seconds = {rows: _seconds(text_of, one, effort) for rows, one in told.items()}
        more = seconds.get(10 * ROWS)
        yield Row(
            f"pull request's {name}, {ROWS:,} rows that all moved, CPU",
            f"< {target:g} s" if target else "",
            f"{seconds[ROWS]:.3f} s",
            f"{more:.3f} s ({times(more, seconds[ROWS])})" if more else "",
            seconds[ROWS] < target if target else None,
        )


def page(effort: Effort) -> Iterator[Row]:
    """The page for a browser."""
    found = {}
    for rows, tries in ((ROWS, effort.tries), *([(10 * ROWS, 1)] if effort.tenfold else [])):
        facts = pages.many(rows)
        found[rows] = cpu_seconds(lambda told=facts: page_html(told), tries)
    more = found.get(10 * ROWS)
    yield Row(
        f"page, {ROWS:,} rows that all moved, CPU",
        f"< {PAGE_TARGET_S:g} s",
        f"{found[ROWS]:.2f} s",
        f"{more:.2f} s ({times(more, found[ROWS])})" if more else "",
        found[ROWS] < PAGE_TARGET_S,
    )


def review(rows: int) -> PackReview:
    """A pack of which everything moved."""
    rng = random.Random(1)
    prompts = [f"P{number:05}" for number in range(rows)]
    before = builders.judged_suite(prompts, variants={"house": "Be kind.\nBe short."})
    after = builders.judged_suite(prompts, variants={"house": "Be kind.\nBe long."})
    old = baseline(before, dict.fromkeys(prompts, (4, 4)))
    new = repeating(after, {prompt: (rng.choice((1, 2, 3, 5)), 3) for prompt in prompts})
    found = compared(old, new)
    texts = {reviews.key(row): ([_answer(rng)], [_answer(rng)]) for row in found.rows}
    return reviews.review(found, answers=texts)


def _seconds(text_of: Callable[..., str], told: list[PackReview], effort: Effort) -> float:
    return cpu_seconds(lambda: text_of(told, reviews.OCCASION), effort.tries)


def _answer(rng: random.Random) -> str:
    """Words of two alphabets."""
    words = ("Größe", "and", "Ärger", "`code`", "那个", "answer", "@name", "✓", "\n")
    return " ".join(rng.choices(words, k=ANSWER_CHARACTERS // 5))[:ANSWER_CHARACTERS]
