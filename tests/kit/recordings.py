"""The recorded replies of real engines (`tests/samples/engines`), ready to be played again."""

from __future__ import annotations

import re
from pathlib import Path

from tests.kit.chat_server import Script

ENGINES = Path(__file__).parents[1] / "samples" / "engines"
CASES = Path(__file__).parents[1] / "cases" / "public"

_TIMED_LINE = re.compile(rb"^\[\s*([\d.]+) ms\] (.*)$")
_DROPPED = {"content-length", "transfer-encoding", "connection", "keep-alive"}


def sections(path: Path) -> dict[str, Script]:
    """The titled responses of one file (`### title  (time)`); a file without titles gives one, called ""."""
    parts = re.split(rb"^### ", path.read_bytes(), flags=re.MULTILINE)
    if not parts[0].strip():
        parts = parts[1:]
        return {_title(part): _response(part.partition(b"\n")[2]) for part in parts}
    return {"": _response(parts[0])}


def answers_by_path(engine: str) -> dict[str, Script]:
    """What the engine said to GET at each path that was tried."""
    recorded = sections(ENGINES / engine / "endpoints.txt")
    return {title.split()[1]: script for title, script in recorded.items() if title.startswith("GET ")}


def timed_stream(path: Path) -> list[tuple[float, bytes]]:
    """A recorded stream as (seconds since sending, bytes of one event or comment)."""
    lines = [match for line in path.read_bytes().split(b"\n") if (match := _TIMED_LINE.match(line))]
    return [(float(match[1]) / 1000, match[2] + b"\n\n") for match in lines]


def _title(part: bytes) -> str:
    return re.sub(r"\s+\([\d.]+ m?s\)$", "", part.partition(b"\n")[0].decode())


def _response(raw: bytes) -> Script:
    head, _, body = raw.partition(b"\n\n")
    status, *lines = head.decode("latin-1").split("\n")
    pairs = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    headers = tuple(pair for pair in pairs if pair[0].lower() not in _DROPPED)
    timed = [match[2] + b"\n\n" for line in body.split(b"\n") if (match := _TIMED_LINE.match(line))]
    chunks = timed or ([body.rstrip(b"\n")] if body.strip() else [])
    if not timed and body.startswith((b"data:", b":")):
        chunks = [body.rstrip(b"\n") + b"\n\n"]
    return Script(chunks, int(status.split()[1]), headers, framing="close")
