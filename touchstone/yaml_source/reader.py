"""From bytes to a document tree: everything YAML allows that a kept file must not hold is refused here.

The loader's event stream is walked once. That gives positions, repeated keys, aliases and tags exactly
as written, and since no tree is built before its depth and size are known, a hostile file costs no more
than a large honest one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from touchstone.yaml_source.nodes import Document, Entry, Listing, Mapping, Node, Place, Scalar
from touchstone.yaml_source.problem import KeyPath, Problem, dotted, escape_of, quoted

if TYPE_CHECKING:
    import yaml

BYTES_MAX = 4 * 1024 * 1024
DEPTH_MAX = 64
NODES_MAX = 200_000

_UNUSABLE = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_UNUSABLE_SHOWN = 20
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_CONFLICT = re.compile(r"^(<{7} |={7}$|>{7} )", re.MULTILINE)
_COMMENT = re.compile(r"(^|(?<=\s))#[^\n]*", re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_CORE_TAG = "tag:yaml.org,2002:"
_UNKNOWN_KEY = object()

_SYNTAX_HINTS = {
    "mapping values are not allowed": "quote a text that holds a colon followed by a space",
    "could not find expected ':'": "write key: value, and indent the lines of a long text",
    "did not find expected key": "begin the lines of a block in one column; quote texts that hold quotes",
    "did not find expected '-' indicator": "the items of one list start in the same column",
    "cannot start any token": "quote the text",
    "did not find expected ',' or": "close the bracket, or quote a text that holds brackets or commas",
    "unexpected end of stream": "close the quote that is open here",
    "unknown escape character": "write a backslash as \\\\, or use single quotes",
    "invalid Unicode character escape": "write the character itself",
    "expected <block end>": "the lines of one block start in the same column",
}


class _StopError(Exception):
    """Reading cannot go on; the problem has been noted."""


def read_document(data: bytes | str, file: str, *, pure: bool = False) -> Document:
    """Read one YAML document. Never raises on content: what is wrong is in the document's problems.

    `file` is the name in every problem; `pure` reads with the loader written in Python.
    """
    text, problem = _text_of(data, file)
    if text is None:
        return Document(file, "", None, [problem] if problem else [])
    problems = list(_unusable_characters(text, file))
    if problems:
        return Document(file, text, None, problems)
    builder = _Builder(file, text)
    builder.build(pure)
    return Document(file, text, builder.root, builder.problems)


def _text_of(data: bytes | str, file: str) -> tuple[str | None, Problem | None]:
    size = len(data)
    if size > BYTES_MAX:
        return None, Problem(
            file, None, None, "", f"{size} bytes, the limit is {BYTES_MAX}", "split the file"
        )
    if isinstance(data, bytes):
        if data.startswith(LFS_POINTER):
            hint = "fetch the content: git lfs pull"
            return None, Problem(file, 1, 1, "", "this is a Git LFS pointer, not the file", hint)
        try:
            data = data.decode("utf-8")
        except UnicodeDecodeError as error:
            return None, _not_utf8(error, file)
    text = data.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    conflict = _CONFLICT.search(text)
    if conflict:
        place = _place(text, conflict.start())
        return None, Problem(file, *place, "", "unresolved merge conflict", "resolve the conflict markers")
    return text, None


def _not_utf8(error: UnicodeDecodeError, file: str) -> Problem:
    before = error.object[: error.start]
    line_start = before.rfind(b"\n") + 1
    column = len(before[line_start:].decode("utf-8", "replace")) + 1
    fault = f"not UTF-8 (byte 0x{error.object[error.start]:02x})"
    return Problem(file, before.count(b"\n") + 1, column, "", fault, "save the file as UTF-8")


def _unusable_characters(text: str, file: str) -> Iterator[Problem]:
    for number, match in enumerate(_UNUSABLE.finditer(text)):
        if number == _UNUSABLE_SHOWN:
            return
        character = match.group()
        escape = escape_of(character)
        yield Problem(
            file,
            *_place(text, match.start()),
            "",
            f"the character U+{ord(character):04X} cannot stand here as it is",
            f'remove it, or write it as {escape} inside double quotes: "…{escape}…"',
        )


def _place(text: str, index: int) -> Place:
    return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)


class _Open:
    """A collection whose end has not been read, and the key its next value belongs to."""

    __slots__ = ("key", "node")

    def __init__(self, node: Listing | Mapping) -> None:
        self.node = node
        self.key: Scalar | object | None = None

    @property
    def part(self) -> str | int | None:
        """The next value's part of the key path; null while its key is being read."""
        if isinstance(self.node, Listing):
            return len(self.node.items)
        return self.key.text if isinstance(self.key, Scalar) else None


class _Builder:
    """Turns the loader's events into the tree, noting problems as they come."""

    def __init__(self, file: str, text: str) -> None:
        self.problems: list[Problem] = []
        self.root: Node | None = None
        self._file = file
        self._text = text
        self._stack: list[_Open] = []
        self._anchors: dict[str, Node] = {}
        self._total = 0
        self._documents = 0
        self._spans: list[tuple[int, int]] = []
        self._has_tabs = "\t" in text

    def build(self, pure: bool) -> None:
        """Read to the end, or to the first place from which nothing more can be read."""
        import yaml  # noqa: PLC0415 - most starts of touchstone read no YAML

        loader: Any = yaml.SafeLoader if pure else getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            take: dict[type[yaml.Event], Callable[[Any], None]] = {
                yaml.ScalarEvent: self._scalar,
                yaml.MappingStartEvent: self._open,
                yaml.SequenceStartEvent: self._open,
                yaml.MappingEndEvent: self._close,
                yaml.SequenceEndEvent: self._close,
                yaml.AliasEvent: self._alias,
                yaml.DocumentStartEvent: self._document,
            }
            for event in yaml.parse(self._text, Loader=loader):
                if handle := take.get(type(event)):
                    handle(event)
        except _StopError:
            return
        except yaml.MarkedYAMLError as error:
            self._note_syntax(error)
        except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
            # The loader in Python lets some impossible escapes and versions through to int() and chr().
            self._note((1, 1), "not valid YAML: an escape or a number in it is impossible")
        else:
            self._finish()

    def _finish(self) -> None:
        empty = isinstance(self.root, Scalar) and self.root.plain and self.root.text == ""
        if self.root is None or empty:
            self.root = None
            self._note((1, 1), "the file is empty", "a file of this kind begins with schema: 1")
        if self._has_tabs:
            self._note_tabs()

    def _document(self, event: Any) -> None:
        self._documents += 1
        if self._documents == 2:
            fault = "a second document begins here; a file holds one"
            self._stop(_mark(event), fault, "move it into a file of its own")

    def _scalar(self, event: Any) -> None:
        if event.tag is not None:
            self._refuse_tag(event)
        if not event.value.isascii() and _SURROGATE.search(event.value):
            self._note(
                _mark(event), "half of a character pair cannot stand alone", "write the character itself"
            )
        node = Scalar(event.value, bool(event.implicit[0]) and not event.style, _mark(event))
        if self._has_tabs and not node.plain:
            self._spans.append((event.start_mark.index, event.end_mark.index))
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        self._add(node, 1)

    def _open(self, event: Any) -> None:
        if event.tag is not None:
            self._refuse_tag(event)
        place = _mark(event)
        if len(self._stack) >= DEPTH_MAX:
            self.problems.append(self._depth_problem(place))
            raise _StopError
        mapping = type(event).__name__ == "MappingStartEvent"
        node: Listing | Mapping = Mapping(place) if mapping else Listing(place)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        self._stack.append(_Open(node))

    def _close(self, _event: Any) -> None:
        self._add(self._stack.pop().node, 1)

    def _alias(self, event: Any) -> None:
        place = _mark(event)
        node = self._anchors.get(event.anchor)
        if node is None:
            self._note(place, f"*{event.anchor} stands for nothing: no &{event.anchor} comes before it")
            node = Scalar("", False, place)
        if any(frame.node is node for frame in self._stack):
            self._stop(place, f"*{event.anchor} contains itself", "write the content out")
        if not isinstance(node, Scalar) and len(self._stack) + node.height > DEPTH_MAX:
            self._stop(place, f"nested deeper than {DEPTH_MAX} levels with *{event.anchor} written out")
        self._add(node, 1 if isinstance(node, Scalar) else node.size, place)

    def _add(self, node: Node, weight: int, place: Place | None = None) -> None:
        self._total += weight
        if self._total > NODES_MAX:
            self._stop(
                place or node.place,
                f"more than {NODES_MAX} values, aliases written out",
                "make the file smaller",
            )
        if not self._stack:
            self.root = node
            return
        frame = self._stack[-1]
        holder = frame.node
        holder.size += weight
        if not isinstance(node, Scalar):
            holder.height = max(holder.height, node.height + 1)
        if isinstance(holder, Listing):
            holder.items.append(node)
        elif frame.key is None:
            frame.key = self._key(node)
        else:
            if isinstance(frame.key, Scalar):
                self._set(holder, frame.key, node)
            frame.key = None

    def _key(self, node: Node) -> Scalar | object:
        if not isinstance(node, Scalar):
            self._note(node.place, "a list or a mapping cannot be a key", "quote the key")
            return _UNKNOWN_KEY
        if node.plain and node.text == "<<":
            self._note(node.place, "merge keys (<<) are not read", "write the keys out")
            return _UNKNOWN_KEY
        return node

    def _set(self, holder: Mapping, key: Scalar, value: Node) -> None:
        first = holder.entries.get(key.text)
        if first is None:
            holder.entries[key.text] = Entry(key, value)
            return
        line = first.key.place[0]
        self._note(
            key.place, f"key {quoted(key.text)} stands twice", f"first on line {line}: keep one of them"
        )

    def _refuse_tag(self, event: Any) -> None:
        written = event.tag.replace(_CORE_TAG, "!!", 1)
        self._note(_mark(event), f"tags are not read: {quoted(written)}", "remove the tag; quote the text")

    def _note_tabs(self) -> None:
        """YAML libraries disagree on tabs: only quoted texts, blocks and comments may hold any."""
        bare, end = "", 0
        for start, stop in self._spans:
            bare += self._text[end:start] + re.sub(r"[^\n]", "x", self._text[start:stop])
            end = stop
        skeleton = _COMMENT.sub(lambda match: "#" * len(match.group()), bare + self._text[end:])
        for match in re.finditer(r"\t+", skeleton):
            hint = "use spaces, or quote the text it belongs to"
            self._note(_place(skeleton, match.start()), "a tab cannot stand here", hint)

    def _note_syntax(self, error: yaml.MarkedYAMLError) -> None:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        phrase = str(error.problem or error.context or "cannot be read")
        if "nesting depth" in phrase:
            self.problems.append(self._depth_problem(place))
            return
        if mark and self._character_at(place) == "\t":
            self._note(place, "a tab cannot stand here", "use spaces, or quote the text it belongs to")
            return
        hint = next((hint for words, hint in _SYNTAX_HINTS.items() if words in phrase), None)
        self._note(place, f"not valid YAML: {phrase}", hint)

    def _character_at(self, place: Place) -> str:
        lines = self._text.split("\n", place[0])
        line = lines[place[0] - 1] if place[0] <= len(lines) else ""
        return line[place[1] - 1 : place[1]]

    def _stop(self, place: Place, text: str, hint: str | None = None) -> None:
        self._note(place, text, hint)
        raise _StopError

    def _note(self, place: Place, text: str, hint: str | None = None) -> None:
        self.problems.append(Problem(self._file, *place, dotted(self._path()), text, hint))

    def _depth_problem(self, place: Place) -> Problem:
        return Problem(self._file, *place, "", f"nested deeper than {DEPTH_MAX} levels")

    def _path(self) -> KeyPath:
        return tuple(part for frame in self._stack if (part := frame.part) is not None)


def _mark(event: Any) -> Place:
    return event.start_mark.line + 1, event.start_mark.column + 1
