"""`levenshtein`: how similar the answer is to a text, trailing white space aside."""

from __future__ import annotations

from touchstone.judge.checks.finding import Answer, Finding
from touchstone.pack.checks import Levenshtein


def run(check: Levenshtein, answer: Answer) -> Finding:
    """Similarity 1 − distance ÷ the longer length."""
    wanted, text = check.value.rstrip(), answer.text.rstrip()
    longer = max(len(wanted), len(text))
    edits = distance(wanted, text)
    score = (longer - edits) / longer if longer else 1.0
    return Finding(score, f"similarity {score:.2f} ({edits} edits)")


def distance(one: str, other: str) -> int:
    """Insertions, deletions and replacements that turn one text into the other.

    Myers' bit-vector algorithm (1999) in Hyyrö's form: a column of the table is one whole number, so
    two texts of 10,000 characters take some 20 ms.
    """
    if not one or not other:
        return len(one) + len(other)
    full, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    places: dict[str, int] = {}
    for index, char in enumerate(one):
        places[char] = places.get(char, 0) | 1 << index
    up, down, edits = full, 0, len(one)
    for char in other:
        equal = places.get(char, 0)
        vertical = equal | down
        diagonal = (((equal & up) + up) ^ up) | equal
        right = (down | ~(diagonal | up)) & full
        left = up & diagonal
        edits += bool(right & last) - bool(left & last)
        right = (right << 1 | 1) & full
        up = (left << 1 & full) | (~(vertical | right) & full)
        down = right & vertical
    return edits
