"""What the checks that look for a piece of text share."""

from __future__ import annotations

from touchstone.judge.visible import visible
from touchstone.pack.checks import Contains, EndsWith, NotContains, StartsWith


def needle_and_text(check: Contains | NotContains | StartsWith | EndsWith, text: str) -> tuple[str, str]:
    """The piece looked for and the text, both case-folded where the check ignores case."""
    if check.ignore_case:
        return check.value.casefold(), text.casefold()
    return check.value, text


def quoted(value: str) -> str:
    """The piece as a detail line shows it."""
    return f"“{visible(value, 40)}”"
