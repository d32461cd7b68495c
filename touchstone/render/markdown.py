"""Markdown that outside text cannot break out of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from touchstone.render.plain import one_line, visible

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|<>~$@&])")
_BACKTICKS = re.compile(r"`+")
_AUTOLINK = re.compile(r"(?i)\b(https?|ftp|mailto)(:)")
_WWW = re.compile(r"(?i)\bwww\.")


def escaped(text: str) -> str:
    """Text inside a paragraph or table cell: one line, every special character inert, no link, no mention."""
    inert = _SPECIAL.sub(r"\\\1", one_line(text))
    inert = inert.replace("\\@", "@\u200b").replace("\\&", "&amp;").replace("\\#", "#\u200b")
    return _WWW.sub("www\u200b.", _AUTOLINK.sub("\\1\u200b\\2", inert))


def code(text: str) -> str:
    """Text as inline code, safe in a table cell."""
    inner = one_line(text).replace("|", "\\|")
    fence = "`" * (_longest_run(inner) + 1)
    pad = " " if inner.startswith("`") or inner.endswith("`") or not inner else ""
    return f"{fence}{pad}{inner}{pad}{fence}"


def block(text: str, language: str = "text") -> list[str]:
    """Text as a fenced block whose fence the text cannot close."""
    shown = visible(text)
    fence = "`" * max(3, _longest_run(shown) + 1)
    return [f"{fence}{language}", *shown.split("\n"), fence]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table; cells are taken as Markdown."""
    lines = [_row(header), _row(["---"] * len(header))]
    return lines + [_row(row) for row in rows]


def folded(summary: str, lines: Iterable[str]) -> list[str]:
    """A section folded behind its summary; `summary` is taken as Markdown-free HTML text."""
    return ["<details>", f"<summary>{summary}</summary>", "", *lines, "", "</details>"]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)
