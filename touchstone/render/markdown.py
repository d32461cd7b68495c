"""Markdown that outside text cannot break out of.

GitHub reads a comment twice: as Markdown, then the text that came of it for names, numbers, addresses and
little pictures. Backslashes stop the first reading; the second is stopped by a space of no width, put where
what it looks for begins. In code neither happens.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from touchstone.render.plain import one_line, visible, without_commands

SENTENCE_WIDTH = 600

_GAP = "\u200b"
_SPECIAL = re.compile(r"[\\`*_\[\]!|<>~&$@#]")
_INSTEAD = {"@": f"@{_GAP}", "#": f"#{_GAP}", "&": "&amp;", "$": "<span>$</span>"}
"""A dollar in an element of its own begins no formula; that is GitHub's own advice."""
_REFERENCE = re.compile(
    r"(?i):(?=//)|www(?=\.)|\bgh(?=-\d)|:(?=[\w+-]+:)|\b[0-9a-f](?=[0-9a-f]{6,39}\b)|%(?=%)|=(?==)"
)
"""The last two are Obsidian's: a comment, which hides all that follows, and a highlight."""
_HEX = re.compile(r"(?<![0-9A-Za-z`])([0-9a-f]{12,64})(?![0-9A-Za-z`])")
_LINE_START = re.compile(r"^(\d{0,9})(?=[-+=.):/])")
_COMMAND = re.compile(r"^([^\S\n]*)/", re.MULTILINE)
_BACKTICKS = re.compile(r"`+")


def escaped(text: str) -> str:
    """Text inside a paragraph or table cell: one line, every special character inert, no link, no mention."""
    return _LINE_START.sub(r"\1\\", _inert(one_line(text)))


def in_cell(text: str) -> str:
    """As `escaped`, for a place where no line begins: what looks like a list's number may stay a number."""
    return _inert(one_line(text))


def sentence(text: str) -> str:
    """As `escaped`, cut where no sentence goes on. Commits and digests stand as code: nothing is put into
    them there, so what is copied can be pasted.
    """
    parts = _HEX.split(one_line(text, SENTENCE_WIDTH))
    told = "".join(code(part) if number % 2 else _inert(part) for number, part in enumerate(parts))
    return _LINE_START.sub(r"\1\\", told)


def code(text: str) -> str:
    """Text as inline code, safe in a table cell."""
    inner = one_line(text).replace("|", "\\|")
    fence = "`" * (_longest_run(inner) + 1)
    pad = " " if inner.startswith("`") or inner.endswith("`") or not inner else ""
    return f"{fence}{pad}{inner}{pad}{fence}"


def block(text: str, language: str = "text") -> list[str]:
    """Text as a fenced block whose fence the text cannot close, and in which no line is an order, fence or
    not: there are programs that obey a slash at the beginning of a comment's line, runners that obey `::`.
    """
    shown = without_commands(_COMMAND.sub(f"\\1{_GAP}/", visible(text)))
    fence = "`" * max(3, _longest_run(shown) + 1)
    return [f"{fence}{language}", *shown.split("\n"), fence]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table; cells are taken as Markdown."""
    lines = [_row(header), _row(["---"] * len(header))]
    return lines + [_row(row) for row in rows]


def folded(summary: str, lines: Iterable[str]) -> list[str]:
    """A section folded behind its summary; `summary` is taken as HTML, see `html_code`."""
    return ["<details>", f"<summary>{summary}</summary>", "", *lines, "", "</details>"]


def html_code(text: str) -> str:
    """Text as HTML code on one line, for a place where Markdown is not read."""
    return f"<code>{html.escape(one_line(text))}</code>"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _inert(line: str) -> str:
    apart = _REFERENCE.sub(lambda found: found[0] + _GAP, line)
    return _SPECIAL.sub(lambda found: _INSTEAD.get(found[0], "\\" + found[0]), apart)


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)
