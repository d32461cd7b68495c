"""What a server complains of, read from the shapes its error bodies come in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from touchstone.engine.names import storable
from touchstone.engine.reply import ErrorClass

_LONGEST = 500
_OVERFLOW = re.compile(
    r"exceed_context_size|context_length_exceeded|maximum context length|available context size"
    r"|context (?:size|length|window)[^.]{0,40}exceed|exceed[^.]{0,60}context"
    r"|greater than the context length|prompt is too long|input is too long",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model_not_found|\bmodels?\b.{0,200}?(?:not found|does not exist|not loaded|is not available)"
    r"|no models? loaded|cached snapshot folder|repository not found|unknown model",
    re.IGNORECASE | re.DOTALL,
)
_LOADING = re.compile(
    r"\bloading\b|not (?:yet )?loaded|starting up|not (?:yet )?ready|warming up|initiali[sz]ing",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Fault:
    """A complaint in plain words. `code` is the status it carries, if it carries one."""

    message: str
    kind: ErrorClass
    code: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", storable(self.message))


def fault_in(body: object) -> Fault | None:
    """The complaint in a decoded body that came with a good status, or None if it is none.

    Shapes: an `error` object or text, a `detail` object, text or list, an `object` or `type` called
    error, a bare `message` text; also a list that begins with one of them.
    """
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, Mapping):
        return None
    complaint = body.get("error")
    if not complaint and "choices" not in body:
        complaint = body.get("detail") or (body if _is_bare(body) else None)
    return _fault(complaint, "in_band") if complaint else None


def fault_of_status(status: int, raw: bytes) -> Fault:
    """The complaint behind a bad status; the body may be anything."""
    body = _decoded(raw)
    found = fault_in(body)
    said = found.message if found else " ".join(raw.decode("utf-8", "replace").split())[:_LONGEST]
    kind = found.kind if found else _kind(said, "http")
    message = f"HTTP {status}: {said}" if said else f"HTTP {status} without an explanation"
    return Fault(message, "http" if kind == "in_band" else kind, status)


def fault_of_event(name: str, body: object) -> Fault | None:
    """The complaint in one event; an event called error is one whatever it carries."""
    found = fault_in(body)
    if found or name != "error":
        return found
    return _fault(body or "an error event without text", "in_band")


def says_loading(fault: Fault) -> bool:
    """Whether a 503 only means that the model is not there yet."""
    return fault.code == 503 and bool(_LOADING.search(fault.message))


def _is_bare(body: Mapping[str, Any]) -> bool:
    if "error" in (body.get("object"), body.get("type")):
        return True
    return isinstance(body.get("message"), str) and "usage" not in body


def _fault(complaint: object, kind: ErrorClass) -> Fault:
    message = " ".join(_said(complaint).split())[:_LONGEST]
    marks = " ".join(_marks(complaint))
    return Fault(message or "no explanation given", _kind(f"{marks} {message}", kind), _code(complaint))


def _said(complaint: object) -> str:
    if isinstance(complaint, str):
        return complaint
    if isinstance(complaint, list):
        return "; ".join(_entry(one) for one in complaint[:3])
    if isinstance(complaint, Mapping):
        for key in ("message", "msg", "error", "detail"):
            if complaint.get(key):
                return _said(complaint[key])
    return json.dumps(complaint, ensure_ascii=False, default=str)


def _entry(entry: object) -> str:
    place = entry.get("loc") if isinstance(entry, Mapping) else None
    where = ".".join(map(str, place)) + ": " if isinstance(place, list) else ""
    return where + _said(entry)


def _marks(complaint: object) -> list[str]:
    inner = complaint.get("error") if isinstance(complaint, Mapping) else None
    levels = [one for one in (complaint, inner) if isinstance(one, Mapping)]
    return [str(one[key]) for one in levels for key in ("type", "code") if one.get(key) is not None]


def _code(complaint: object) -> int | None:
    codes = [int(mark) for mark in _marks(complaint) if mark.isdecimal() and len(mark) == 3]
    return codes[0] if codes else None


def _kind(text: str, otherwise: ErrorClass) -> ErrorClass:
    if _OVERFLOW.search(text):
        return "context_overflow"
    return "no_such_model" if _NO_MODEL.search(text) else otherwise


def _decoded(raw: bytes) -> object:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None
