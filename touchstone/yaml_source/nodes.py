"""A YAML document as read: texts as written and where each stands, nothing converted yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from touchstone.yaml_source.problem import KeyPath, Problem, dotted

Place: TypeAlias = tuple[int, int]
"""(line, column), both counted from 1."""


@dataclass(slots=True)
class Scalar:
    """A text. `plain`: written without quotes and not as a block, so its type is still open."""

    text: str
    plain: bool
    place: Place


@dataclass(slots=True)
class Listing:
    """A sequence. `size` and `height` count what hangs below it, aliases written out."""

    place: Place
    items: list[Node] = field(default_factory=list)
    size: int = 1
    height: int = 1


@dataclass(slots=True)
class Entry:
    """One key of a mapping and its value."""

    key: Scalar
    value: Node


@dataclass(slots=True)
class Mapping:
    """A mapping by the text of its keys, in the order written."""

    place: Place
    entries: dict[str, Entry] = field(default_factory=dict)
    size: int = 1
    height: int = 1


Node: TypeAlias = Scalar | Listing | Mapping


@dataclass(frozen=True)
class Document:
    """A whole file: its text (LF, no byte order mark), its tree, and what was wrong so far.

    `root` is null where the text could not be read to its end.
    """

    file: str
    text: str
    root: Node | None
    problems: list[Problem]

    def place_of(self, path: KeyPath) -> Place | None:
        """Where a key path stands: a single value's own place, else its key's.

        A path that leads nowhere (a missing key) gives the place of what holds it.
        """
        node, place = self.root, None
        if node is not None:
            place = node.place
        for part in path:
            if isinstance(node, Mapping) and str(part) in node.entries:
                entry = node.entries[str(part)]
                node = entry.value
                place = node.place if isinstance(node, Scalar) else entry.key.place
            elif isinstance(node, Listing) and isinstance(part, int) and part < len(node.items):
                node = node.items[part]
                place = node.place
            else:
                break
        return place

    def key_place(self, path: KeyPath) -> Place | None:
        """Where the last key of the path is written."""
        holder = self.node_at(path[:-1])
        if path and isinstance(holder, Mapping) and str(path[-1]) in holder.entries:
            return holder.entries[str(path[-1])].key.place
        return self.place_of(path)

    def node_at(self, path: KeyPath) -> Node | None:
        """The node a key path leads to, if it does."""
        node = self.root
        for part in path:
            if isinstance(node, Mapping) and str(part) in node.entries:
                node = node.entries[str(part)].value
            elif isinstance(node, Listing) and isinstance(part, int) and part < len(node.items):
                node = node.items[part]
            else:
                return None
        return node

    def problem(self, path: KeyPath, text: str, hint: str | None = None, *, key: bool = False) -> Problem:
        """A problem at a key path (`key`: at the key itself rather than its value)."""
        place = (self.key_place(path) if key else self.place_of(path)) or (1, 1)
        return Problem(self.file, *place, dotted(path), text, hint)
