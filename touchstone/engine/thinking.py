"""Where the answer begins when a model thinks aloud inside its own content."""

from __future__ import annotations

import re
from typing import NamedTuple

_TAGS = {"<think>": "</think>", "<thinking>": "</thinking>", "[THINK]": "[/THINK]"}
_LONE_CLOSE = re.compile(r"^(?:</think(?:ing)?>|\[/THINK\])[ \t]*$", re.MULTILINE)


class Thinking(NamedTuple):
    """`start` is the offset of the visible answer, `chars` the length of the thinking before it."""

    start: int
    chars: int
    note: str | None


def thinking_of(text: str) -> Thinking:
    """Splits off thinking blocks at the very front of a text.

    A block that never closes leaves no visible answer. A closing tag alone on its line with no opening
    one (templates that put the opening tag into the prompt) ends the thinking too. Tags further inside
    the answer belong to the answer.
    """
    start = chars = 0
    while (opening := _opening_at(text, _skip_space(text, start))) is not None:
        inner = _skip_space(text, start) + len(opening)
        end = text.find(_TAGS[opening], inner)
        if end < 0:
            return Thinking(len(text), chars + len(text[inner:].strip()), "thinking_unclosed")
        chars += len(text[inner:end].strip())
        start = end + len(_TAGS[opening])
    if start:
        return Thinking(_skip_space(text, start), chars, None)
    lone = _LONE_CLOSE.search(text)
    if lone:
        return Thinking(_skip_space(text, lone.end()), len(text[: lone.start()].strip()), "thinking_unopened")
    return Thinking(0, 0, None)


def _opening_at(text: str, at: int) -> str | None:
    return next((tag for tag in _TAGS if text.startswith(tag, at)), None)


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
