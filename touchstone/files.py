"""Ground: files that survive a crash, JSON that has one form, and the hash over it.

Nothing else in touchstone opens a file for writing.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import math
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from glob import escape
from pathlib import Path
from typing import Any

from touchstone.errors import BadInputError, NotJudgedError

JSON_DEPTH_MAX = 64
JSON_DECIMALS = 6
DIGEST_DEPTH = 2
"""Levels of a document whose line is hashed piece by piece: fields, and the items of its long lists."""
BLOCK_CHARS = 1 << 20
"""What is written at once of a text that comes in pieces."""
TAIL_BYTES = 1 << 16
"""What is read at once of a file's end."""
_SHA256 = "sha256:"

_KEPT_AS_IS = frozenset({str, int, bool, type(None)})
_LINE_SEPARATORS = str.maketrans({"\u2028": "\\u2028", "\u2029": "\\u2029"})
_REMOVED = ".removed"
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_CONFLICT_MARKER = re.compile(r"^(<{7} |={7}$|>{7} )", re.MULTILINE)


def sha256_of(text: str | bytes) -> str:
    """`sha256:<64 hex digits>` of the bytes, or of the text's UTF-8 bytes."""
    data = text.encode("utf-8") if isinstance(text, str) else text
    return _SHA256 + hashlib.sha256(data).hexdigest()


def canonical(value: Any) -> Any:
    """The value as we keep it: NaN and infinities null, 6 decimals, whole numbers as integers."""
    if value.__class__ in _KEPT_AS_IS:
        return value
    if isinstance(value, float):
        return _canonical_number(value)
    if isinstance(value, dict):
        return {str(key): canonical(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [canonical(item) for item in value]
    return value


def json_line(value: Any) -> str:
    """One line of canonical JSON: sorted keys, no spaces, U+2028 and U+2029 escaped, no newline."""
    text = json.dumps(
        canonical(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )
    return text.translate(_LINE_SEPARATORS)


def json_pretty(value: Any, sort_keys: bool = True) -> str:
    """Canonical JSON over several lines, two spaces deep, with a final newline."""
    text = json.dumps(canonical(value), ensure_ascii=False, sort_keys=sort_keys, indent=2, allow_nan=False)
    return text.translate(_LINE_SEPARATORS) + "\n"


def json_document(value: Mapping[str, Any]) -> str:
    """A document we keep: top-level fields in the order given, keys sorted inside, with a final newline."""
    return "".join(_document_pieces(value))


def digest_of(value: Any) -> str:
    """The hash over a value's canonical JSON line, taken piece by piece: a large value has a long line."""
    found = hashlib.sha256()
    for piece in _line_pieces(value, DIGEST_DEPTH):
        found.update(piece.encode("utf-8"))
    return _SHA256 + found.hexdigest()


def parse_json(text: str | bytes, source: str) -> Any:
    """Strict JSON: UTF-8, no repeated keys, no NaN or Infinity, at most 64 levels deep.

    `source` (a file name, with `:line` where known) begins every message. Raises BadInputError.
    """
    decoded = _decoded(text, source)
    marker = _CONFLICT_MARKER.search(decoded)
    if marker:
        raise BadInputError(
            f"{source}:{decoded.count(chr(10), 0, marker.start()) + 1}: unresolved merge conflict",
            "Take one side whole (git checkout --ours or --theirs FILE); mixed by hand it is neither.",
        )
    try:
        value = json.loads(decoded, object_pairs_hook=_unique_pairs, parse_constant=_refuse_constant)
    except RecursionError:
        raise BadInputError(f"{source}: JSON nested deeper than {JSON_DEPTH_MAX} levels") from None
    except json.JSONDecodeError as error:
        raise BadInputError(f"{source}:{error.lineno}:{error.colno}: not valid JSON: {error.msg}") from None
    except ValueError as error:
        raise BadInputError(f"{source}: {error}") from None
    if _depth(value) > JSON_DEPTH_MAX:
        raise BadInputError(f"{source}: JSON nested deeper than {JSON_DEPTH_MAX} levels")
    _refuse_surrogates(decoded, value, source)
    return value


def read_bytes(path: Path) -> bytes:
    """A file's bytes; BadInputError, naming the file, where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read: {error.strerror}") from None


def read_text(path: Path) -> str:
    """A file's text, strictly UTF-8; BadInputError naming file and line otherwise."""
    return _decoded(read_bytes(path), str(path))


def read_json(path: Path) -> Any:
    """A JSON file, strictly."""
    return parse_json(read_bytes(path), str(path))


def write_atomic(path: Path, text: str | bytes) -> None:
    """Replace a file as a whole: a crash leaves the old content or the new, never a part.

    The temporary file lies in the same folder; an existing file keeps its mode (0644 otherwise); a
    symbolic link is followed. Folder entries are synced.
    """
    data = text.encode("utf-8") if isinstance(text, str) else text
    with _writing(path):
        _replace(path.resolve(), [data])


def write_pieces(path: Path, pieces: Iterable[str]) -> None:
    """The same for a text in pieces, which is never held as a whole."""
    with _writing(path):
        _replace(path.resolve(), _blocks(pieces))


def clear_leftovers(path: Path) -> None:
    """Remove what killed replacements of a file left beside it; for whoever keeps other writers off."""
    for leftover in path.parent.glob(f".{escape(path.name)}.????????.tmp"):
        leftover.unlink(missing_ok=True)


def remove_folder(folder: Path) -> bool:
    """Remove a folder with everything in it; False where that is not allowed.

    It is renamed first, to a name with a dot in front, so that a crash leaves no half of it under its name;
    such a remnant is removed with the next folder beside it.
    """
    try:
        folder.rename(folder.with_name(f".{folder.name}{_REMOVED}"))
    except OSError:
        return False
    for remnant in folder.parent.glob(f".*{_REMOVED}"):
        shutil.rmtree(remnant, ignore_errors=True)
    return True


def make_folder(path: Path, *, new: bool = False) -> None:
    """Make a folder and those above it; BadInputError where that cannot be done or, if `new`, was done."""
    with _writing(path):
        path.mkdir(parents=True, exist_ok=not new)


def write_json(path: Path, value: Any, sort_keys: bool = True) -> None:
    """Replace a JSON file as a whole."""
    write_atomic(path, json_pretty(value, sort_keys))


def write_document(path: Path, value: Mapping[str, Any]) -> None:
    """Replace a document we keep (see `json_document`); a long field may be an iterator of its items."""
    write_pieces(path, _document_pieces(value))


def sync_folder(folder: Path) -> None:
    """Make a folder's entries durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class JsonlAppender:
    """Appends records to a JSONL file, one `write` per line.

    Opening repairs the end: a complete last line without its newline gets one; a torn fragment is cut
    off and kept beside the file as `<name>.torn`, so its sample is simply asked again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = -1
        with _writing(path):
            self.torn_bytes = _repair_tail(path)
            self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def append(self, record: Any) -> None:
        """Write one record. The line is in the kernel's hands when this returns.

        Raises NotJudgedError where it cannot be written; what was written before stays.
        """
        data = (json_line(record) + "\n").encode("utf-8")
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            raise NotJudgedError(
                f"{self.path}: cannot be written: {error.strerror}; every line before is kept",
                "Make room, then go on with the run (--resume).",
            ) from None

    def close(self) -> None:
        """Sync and close; a second call does nothing."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            with _writing(self.path):
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)

    def __enter__(self) -> JsonlAppender:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


def read_jsonl(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield (line number, value) of a JSONL file; a missing file is empty.

    A fragment behind the last newline is passed over unless it is a whole record; any other bad line
    is a BadInputError naming file and line. Blank lines and a carriage return before the newline are
    tolerated. The file is not changed.
    """
    if not path.exists():
        return
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        source, record = f"{path}:{number}", line.removesuffix(b"\n")
        if len(record) < len(line):
            yield number, _parse_line(record, source)
            continue
        with contextlib.suppress(BadInputError):
            yield number, _parse_line(record, source)


def _lines(path: Path) -> Iterator[bytes]:
    """A file's lines one after another: a large file is never held as a whole."""
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read: {error.strerror}") from None


@contextlib.contextmanager
def exclusive_lock(path: Path, busy: str, hint: str | None = None) -> Iterator[None]:
    """Hold an advisory lock on a file; NotJudgedError with `busy` when another process has it.

    Opened for reading only, so that another user's lock file in a shared folder serves as well.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        raise BadInputError(f"{path}: the lock file cannot be opened: {error.strerror}") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NotJudgedError(busy, hint) from None
        yield
    finally:
        os.close(descriptor)


def _line_pieces(value: Any, depth: int) -> Iterator[str]:
    """`json_line`, cut at the seams of the outermost `depth` levels."""
    items: Iterable[tuple[str, Any]]
    if depth and isinstance(value, dict):
        named = {str(key): item for key, item in value.items()}
        items, ends = ((f"{json_line(key)}:", named[key]) for key in sorted(named)), "{}"
    elif depth and isinstance(value, (list, tuple)):
        items, ends = (("", item) for item in value), "[]"
    else:
        yield json_line(value)
        return
    yield ends[0]
    for number, (head, item) in enumerate(items):
        yield f",{head}" if number else head
        yield from _line_pieces(item, depth - 1)
    yield ends[1]


def _replace(target: Path, blocks: Iterable[bytes]) -> None:
    mode = _mode_of(target)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as handle:
            for block in blocks:
                handle.write(block)
            handle.flush()
            os.fsync(handle.fileno())
        temporary.chmod(mode)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInputError(
            f"{path}: cannot be written: {error.strerror}",
            "Make room, or give this user the right to write there.",
        ) from None


def _document_pieces(value: Mapping[str, Any]) -> Iterator[str]:
    between = "{\n"
    for key, item in value.items():
        yield f"{between}  {json_line(key)}: "
        yield from _items(item) if isinstance(item, (list, Iterator)) else [_laid_out(item, 2)]
        between = ",\n"
    yield "\n}\n" if value else "{}\n"


def _items(items: Iterable[Any]) -> Iterator[str]:
    between = "["
    for item in items:
        yield f"{between}\n    {_laid_out(item, 4)}"
        between = ","
    yield "[]" if between == "[" else "\n  ]"


def _laid_out(value: Any, by: int) -> str:
    """Pretty JSON, keys sorted, its further lines so many spaces deeper."""
    text = json_pretty(_sorted(value), sort_keys=False)
    return text.rstrip("\n").replace("\n", "\n" + " " * by)


def _blocks(pieces: Iterable[str]) -> Iterator[bytes]:
    """Pieces put together until they are worth a write."""
    held: list[str] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= BLOCK_CHARS:
            yield "".join(held).encode("utf-8")
            held, size = [], 0
    yield "".join(held).encode("utf-8")


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [_sorted(item) for item in value]
    return value


def _parse_line(line: bytes, source: str) -> Any:
    text = _decoded(line, source)
    try:
        value = _LINE_DECODER.decode(text)
        _refuse_surrogates(text, value, source)
        return value
    except BadInputError:
        raise
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise BadInputError(
            f"{source}: not a JSON record: {reason}",
            "The line was changed after it was written. Restore the file, or start a new run.",
        ) from None


def _refuse_surrogates(text: str, value: Any, source: str) -> None:
    """A lone surrogate is no character: it could be read but never written again."""
    if not _SURROGATE_ESCAPE.search(text):
        return
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadInputError(
            f"{source}: half a character (\\u{ord(error.object[error.start]):04x} alone)",
            "Restore the file: touchstone never writes that.",
        ) from None


def _decoded(data: str | bytes, source: str) -> str:
    if isinstance(data, str):
        return data
    if data.startswith(_LFS_POINTER):
        raise BadInputError(
            f"{source}: this is a Git LFS pointer, not the file", "Fetch the content: git lfs pull"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        # One line of a JSONL file already carries its number in `source`.
        place = f"{source}:{data.count(10, 0, error.start) + 1}" if b"\n" in data else source
        raise BadInputError(
            f"{place}: not UTF-8 (byte 0x{data[error.start]:02x})", "Save the file as UTF-8."
        ) from None


def _canonical_number(value: float) -> int | float | None:
    if not math.isfinite(value):
        return None
    rounded = round(value, JSON_DECIMALS)
    return int(rounded) if rounded.is_integer() else rounded


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"key {key!r} stands twice in one object")
            seen.add(key)
    return record


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_LINE_DECODER = json.JSONDecoder(object_pairs_hook=_unique_pairs, parse_constant=_refuse_constant)
"""Made once: a run's files have a line for every answer."""


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        children: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                children.extend(item.values())
            elif isinstance(item, list):
                children.extend(item)
        level = children
    return depth


def _mode_of(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o7777
    except FileNotFoundError:
        return 0o644


def _tail(path: Path) -> tuple[int, bytes]:
    """Where the last line begins, and what stands there. Read from the end: a run's file is large."""
    try:
        with path.open("rb") as file:
            begin, tail = file.seek(0, os.SEEK_END), b""
            while begin:
                size = min(TAIL_BYTES, begin)
                begin = file.seek(begin - size)
                block = file.read(size)
                newline = block.rfind(b"\n") + 1
                tail = block[newline:] + tail
                if newline:
                    return begin + newline, tail
            return 0, tail
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read: {error.strerror}") from None


def _repair_tail(path: Path) -> int:
    if not path.exists():
        return 0
    start, tail = _tail(path)
    if not tail:
        return 0
    try:
        _parse_line(tail, str(path))
    except BadInputError:
        with path.with_name(path.name + ".torn").open("ab") as aside:
            aside.write(tail + b"\n")
            aside.flush()
            os.fsync(aside.fileno())
        os.truncate(path, start)
        return len(tail)
    with path.open("ab") as handle:
        handle.write(b"\n")
        handle.flush()
        os.fsync(handle.fileno())
    return 0
