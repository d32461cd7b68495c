"""The Markdown fence a model likes to put around JSON."""

from __future__ import annotations

_MARK = "```"


def without_fence(text: str) -> str:
    """The content of the one fence that encloses the whole text, or the text itself, stripped."""
    stripped = text.strip()
    first, _, rest = stripped.partition("\n")
    body, _, last = rest.rpartition("\n")
    encloses = first.startswith(_MARK) and "`" not in first[3:] and last.strip() == _MARK
    if not encloses or any(line.lstrip().startswith(_MARK) for line in body.split("\n")):
        return stripped
    return body.strip()
