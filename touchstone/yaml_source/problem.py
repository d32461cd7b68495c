"""What is wrong with a file, where, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from touchstone.errors import BadInputError

KeyPath: TypeAlias = tuple[str | int, ...]
"""Keys and list positions from the top of a document down to a value."""

PROBLEMS_SHOWN = 200
TEXT_SHOWN = 60

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_UNSEEN = re.compile(
    r"(?<=##)\[|[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]"
)


@dataclass(frozen=True)
class Problem:
    """One fault of a file. `line` and `column` count from 1; null where the file as a whole is meant."""

    file: str
    line: int | None
    column: int | None
    path: str
    problem: str
    hint: str | None = None

    def __str__(self) -> str:
        # A line that begins with two colons would be a command to a workflow's runner.
        file = f"./{self.file}" if self.file.startswith(":") else self.file
        place = ":".join(str(part) for part in (file, self.line, self.column) if part is not None)
        subject = f"{self.path}: " if self.path else ""
        hint = f" ({self.hint})" if self.hint else ""
        return seen(f"{place}: {subject}{self.problem}{hint}")

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        """Sort key: file, then line, then column."""
        return (self.file, self.line or 0, self.column or 0, self.path, self.problem)


class ProblemsError(BadInputError):
    """Everything that is wrong with one or more files, sorted; the message is one line per problem."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: list[Problem] = sorted(set(problems), key=lambda problem: problem.order)
        lines = [str(problem) for problem in self.problems[:PROBLEMS_SHOWN]]
        if len(self.problems) > PROBLEMS_SHOWN:
            lines.append(f"… and {len(self.problems) - PROBLEMS_SHOWN} more problems")
        super().__init__("\n".join(lines))


def dotted(path: Sequence[str | int]) -> str:
    """A key path as people write it: `categories[0].prompts[2].id`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _BARE_KEY.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f"[{quoted(part)}]"
    return text


def quoted(text: str) -> str:
    """A text in double quotes, short enough for a message, with nothing unseen in it."""
    short = text if len(text) <= TEXT_SHOWN else text[: TEXT_SHOWN - 1] + "…"
    escaped = short.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{seen(escaped)}"'


def seen(text: str) -> str:
    """The text with control, direction and zero-width characters written as escapes.

    `##[` is broken up too: a workflow log would read it as a command.
    """
    return _UNSEEN.sub(lambda match: escape_of(match.group()), text)


def escape_of(character: str) -> str:
    """How a character is written inside a double-quoted YAML text."""
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}
    code = ord(character)
    return named.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
