"""Plain text in columns that fit a width: a table for the terminal, and sentences folded to it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

WIDTH = 80
GAP = "  "
INDENT = "    "


def text_width(text: str) -> int:
    """Places that a text takes on a terminal: two for a wide character, none for one that joins another."""
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def folded_lines(text: str, indent: str = "", width: int = WIDTH) -> list[str]:
    """A sentence on as many lines as it takes, all but the first set in; a word longer than that is cut."""
    room = width - len(indent) - len(GAP)
    lines = [""]
    pieces = [piece for word in text.split() for piece in _pieces(word, room)]
    for piece in pieces:
        longer = f"{lines[-1]} {piece}".strip()
        if text_width(longer) <= room + (len(GAP) if len(lines) == 1 else 0):
            lines[-1] = longer
        else:
            lines.append(piece)
    return [indent + lines[0], *(indent + GAP + line for line in lines[1:])] if lines != [""] else []


def fitted_text(text: str, width: int) -> str:
    """A text whose lines fit a terminal: folded between words, set in as deep as they began."""
    lines: list[str] = []
    for line in text.split("\n"):
        if text_width(line) <= width:
            lines.append(line)
        else:
            lines += folded_lines(line, line[: len(line) - len(line.lstrip(" "))], width)
    return "\n".join(lines)


def wrapped_line(line: str, width: int) -> list[str]:
    """A line of an answer in a column of that width; how deep it begins and its inner gaps are kept."""
    lines = [""]
    for token in re.findall(r"\s*\S+", line):
        if text_width(lines[-1] + token) <= width:
            lines[-1] += token
            continue
        pieces = list(_pieces(token.lstrip() if lines[-1] else token, width))
        lines = [*lines[: None if lines[-1] else -1], *pieces]
    return lines


def side_by_side(left: str, right: str, width: int) -> str:
    """Two columns of which the left one takes that many places."""
    return f"  {left}{' ' * (width - text_width(left))} | {right}".rstrip()


def named_table(
    header: Sequence[str],
    rows: Iterable[tuple[Sequence[str], Sequence[str]]],
    width: int = WIDTH,
) -> list[str]:
    """A line per row, its first cell the name; the second part of a row are sentences below it.

    A name that leaves no room has a line of its own, so that the figures stay in their columns.
    """
    told = list(rows)
    widths = [max(map(text_width, column)) for column in zip(header, *(row for row, _ in told), strict=True)]
    room = width - sum(widths[1:]) - len(GAP) * (len(widths) - 1)
    names = [text_width(row[0]) for row, _ in told]
    widths[0] = max([text_width(header[0]), *(name for name in names if name <= room)])
    lines = [_line(header, widths)]
    for row, below in told:
        beside = text_width(row[0]) <= room
        lines += [] if beside else folded_lines(row[0], width=width)
        lines.append(_line(row if beside else ["", *row[1:]], widths))
        lines += [line for sentence in below for line in folded_lines(sentence, INDENT, width)]
    return lines


def _pieces(word: str, room: int) -> Iterator[str]:
    """A word cut so that each piece fits."""
    if text_width(word) <= room:
        yield word
        return
    piece, taken = "", 0
    for character in word:
        if taken + _width(character) > room:
            yield piece
            piece, taken = "", 0
        piece, taken = piece + character, taken + _width(character)
    yield piece


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell + " " * (width - text_width(cell)) for cell, width in zip(cells, widths, strict=True)]
    return GAP.join(padded).rstrip()


def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
