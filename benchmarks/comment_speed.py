"""How long a pull request's comment and step summary take, by the number of rows.

    python benchmarks/comment_speed.py [ROWS …]

Every row moved, every answer is another one of 2,000 characters with letters outside ASCII, the prompt
changed: the most there is to tell. Seconds are CPU seconds, the best of five.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.kit import builders, reviews
from tests.kit.compared import baseline, compared, repeating
from touchstone.render.comment import comment_text
from touchstone.render.review import PackReview
from touchstone.render.summary import summary_text

TARGET_S = 0.3
TARGET_ROWS = 2_000
ANSWER_CHARACTERS = 2_000
TRIES = 5


def main() -> int:
    """Print the table; 1 when the comment of two thousand rows misses its target."""
    sizes = [int(size) for size in sys.argv[1:]] or [TARGET_ROWS, 10 * TARGET_ROWS]
    print(f"{'rows':>8} {'comment s':>10} {'bytes':>8} {'summary s':>10} {'bytes':>8}")
    seconds = {rows: report(rows) for rows in sizes}
    print(f"target of the comment at {TARGET_ROWS:,} rows: < {TARGET_S:g} s")
    return int(seconds.get(TARGET_ROWS, 0.0) >= TARGET_S)


def report(rows: int) -> float:
    """One line; the seconds of the comment."""
    told = [review(rows)]
    comment_s, comment = timed(lambda: comment_text(told, reviews.OCCASION))
    summary_s, summary = timed(lambda: summary_text(told, reviews.OCCASION))
    print(
        f"{rows:>8} {comment_s:>10.3f} {len(comment.encode()):>8} "
        f"{summary_s:>10.3f} {len(summary.encode()):>8}"
    )
    return comment_s


def timed(write: Callable[[], str]) -> tuple[float, str]:
    """The least CPU seconds of some tries, and the text."""
    times, text = [], ""
    for _ in range(TRIES):
        began = time.process_time()
        text = write()
        times.append(time.process_time() - began)
    return min(times), text


def review(rows: int) -> PackReview:
    """A pack of which everything moved."""
    rng = random.Random(1)
    prompts = [f"P{number:05}" for number in range(rows)]
    before = builders.judged_suite(prompts, variants={"house": "Be kind.\nBe short."})
    after = builders.judged_suite(prompts, variants={"house": "Be kind.\nBe long."})
    old = baseline(before, dict.fromkeys(prompts, (4, 4)))
    new = repeating(after, {prompt: (rng.choice((1, 2, 3, 5)), 3) for prompt in prompts})
    found = compared(old, new)
    texts = {reviews.key(row): ([answer(rng)], [answer(rng)]) for row in found.rows}
    return reviews.review(found, answers=texts)


def answer(rng: random.Random) -> str:
    """Words of two alphabets."""
    words = ("Größe", "and", "Ärger", "`code`", "那个", "answer", "@name", "✓", "\n")
    return " ".join(rng.choices(words, k=ANSWER_CHARACTERS // 5))[:ANSWER_CHARACTERS]


if __name__ == "__main__":
    sys.exit(main())
