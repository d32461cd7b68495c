"""The judge's reply, read strictly: a verdict, or a named fault. Nothing is repaired, clamped or guessed.

Accepted is a reply that holds exactly one verdict at its top level: an object with `rationale`, `scores`
(an integer on the scale for each dimension asked and for no other) and `red_flag`, and with no other key.
Thinking before it, one Markdown fence, prose around it and a template token behind it are passed over.
`4.0` is 4; `"4"`, `4.5` and `true` are faults. A text that looks like a verdict in any other place — inside
another object or array, broken off, broken, standing in the answer itself — makes the reply unusable.
So does a closing bracket without its opening one, or a `"key":` outside every object: the verdict beside
it may have been meant for the inside of something else.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

from touchstone.judge.prompt import Brief
from touchstone.judge.visible import visible

FaultCode = Literal[
    "empty",
    "only_thinking",
    "no_verdict",
    "cut",
    "broken",
    "array",
    "several",
    "repeated_key",
    "not_json",
    "nesting",
    "missing",
    "extra",
    "wrong_type",
    "not_whole",
    "out_of_scale",
    "quoted",
    "judge_error",
]

KEYS = ("rationale", "scores", "red_flag")

_THINKING = re.compile(r"\s*<(?:think|thinking|reasoning)>")
_THINKING_END = re.compile(r"</(?:think|thinking|reasoning)>")
_OPENER = re.compile(r"[\[{]")
_STRUCTURE = re.compile(r'[\\"\[\]{}]')
_VERDICT_KEY = re.compile(r"(?:rationale|scores|red_flag)\\?[\"']?\s*:")
_LOOSE = re.compile(r"""[}\]]|"[^"]*"\s*:|'\w+\\?'\s*:""")
_SCORES = re.compile(r"scores[\\\"']*\s*[:=]\s*\{((?:[^{}]|\{[^{}]*\})*+)\}")
_PAIR = re.compile(
    r"(?<![\w.\-])([\w.\-]+)[\\\"']*\s*[:=]\s*(?=\[?[\\\"']*(\d{1,9})|\{[^{}]*?[:=]\s*[\\\"']*(\d{1,9}))"
)
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_BLANKS = re.compile(r"\s+")
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»″", '"') | dict.fromkeys("‘’‚‛′", "'"))


@dataclass(frozen=True, slots=True)
class ParsedVerdict:
    """What the judge says. `scores` holds every dimension asked, in the order of asking."""

    rationale: str
    scores: dict[str, int]
    red_flag: bool


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a reply cannot be used: a code for the record, a sentence for the judge and the reader."""

    code: FaultCode
    detail: str


class _FaultyError(Exception):
    def __init__(self, code: FaultCode, detail: str) -> None:
        super().__init__(detail)
        self.fault = Fault(code, detail)


def parse_reply(
    text: str, brief: Brief, answer: str, finish_reason: str | None = None
) -> ParsedVerdict | Fault:
    """Read a judge's reply to `brief` about `answer`. Never raises for what the text holds."""
    try:
        return _parsed(text, brief, answer)
    except _FaultyError as error:
        return _with_finish(error.fault, finish_reason)


def stands_in(answer: str, source: str, scores: Mapping[str, int]) -> bool:
    """Whether a verdict is the answer's own text: its characters, or its scores in whatever spelling.

    A judge that quotes such an answer without escapes writes the answer's scores into its own verdict.
    Found are scores beside further dimensions, one level deeper (`{"v": 5}`, `[5]`), with escapes, entities,
    other quotes and invisible characters; not found are scores deeper still, in words, or like `0.5e1`.
    """
    plain = _plainly(answer)
    if any(_BLANKS.sub("", source) in _BLANKS.sub("", text) for text in (answer, plain)):
        return True
    wanted = set(scores.items())
    told = ({(id_, int(a or b)) for id_, a, b in _PAIR.findall(block)} for block in _SCORES.findall(plain))
    return any(wanted <= pairs for pairs in told)


def _plainly(answer: str) -> str:
    """The answer as a judge that tidies up would quote it: no escapes, entities, odd or unseen characters."""
    text = html.unescape(_ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), answer))
    folded = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    if folded.isascii():
        return folded
    return "".join(letter for letter in folded if unicodedata.category(letter) != "Cf")


def _parsed(text: str, brief: Brief, answer: str) -> ParsedVerdict:
    source, value = _only_verdict(_without_thinking(text))
    verdict = _verdict(value, brief)
    if stands_in(answer, source, verdict.scores):
        raise _FaultyError("quoted", "the verdict is a copy of one that stands in the answer itself")
    return verdict


def _with_finish(fault: Fault, finish_reason: str | None) -> Fault:
    if finish_reason != "length":
        return fault
    return Fault(fault.code, f"{fault.detail} (the reply ran into its token limit)")


def _without_thinking(text: str) -> str:
    """The reply behind its thinking block. Some engines swallow the opening tag."""
    if not text.strip():
        raise _FaultyError("empty", "the reply is empty")
    rest = text
    if not text.lstrip().startswith(("{", "```")):
        rest = _behind_end_tag(text) if _THINKING_END.search(text) else text
    while _THINKING.match(rest):
        rest = _behind_end_tag(rest)
    if not rest.strip():
        raise _FaultyError("only_thinking", "the reply is thinking and nothing else")
    return rest


def _behind_end_tag(text: str) -> str:
    end = _THINKING_END.search(text)
    if end is None:
        raise _FaultyError("only_thinking", "the reply is thinking without an end")
    return text[end.end() :]


def _only_verdict(text: str) -> tuple[str, dict[str, Any]]:
    """The source and value of the one object at the top level that is meant as a verdict."""
    attempts: dict[str, tuple[str, dict[str, Any]]] = {}
    array = False
    for source, value in _top_level(text):
        if isinstance(value, dict) and not value.keys().isdisjoint(KEYS):
            attempts.setdefault(_BLANKS.sub("", source), (source, value))
        elif isinstance(value, list) and _VERDICT_KEY.search(source):
            array = True
    if array:
        raise _FaultyError("array", "the verdict stands in a list; an object is wanted")
    if not attempts:
        raise _FaultyError("no_verdict", "there is no verdict in the reply")
    if len(attempts) > 1:
        raise _FaultyError("several", "there are several different verdicts in the reply")
    return next(iter(attempts.values()))


def _top_level(text: str) -> Iterator[tuple[str, Any]]:
    """(source, value) of each JSON object and array that stands in no other."""
    place = 0
    while opener := _OPENER.search(text, place):
        start = opener.start()
        _refuse_loose(text, place, start)
        end, value = _decoded(text, start)
        if end is not None:
            yield text[start:end], value
        else:
            end = _closing(text, start)
            if _VERDICT_KEY.search(text, start, end):
                raise _FaultyError("broken", "the verdict is not valid JSON")
        place = end
    _refuse_loose(text, place, len(text))


def _refuse_loose(text: str, start: int, end: int) -> None:
    """A key or a closing bracket outside every object: something closed the one it belongs to too early."""
    if _LOOSE.search(text, start, end):
        raise _FaultyError("broken", "the reply is not valid JSON: parts of it stand outside their object")


def _decoded(text: str, start: int) -> tuple[int | None, Any]:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError:
        return None, None
    except RecursionError:
        raise _FaultyError("nesting", "the reply is nested too deeply") from None
    except (ValueError, InvalidOperation):
        raise _FaultyError("out_of_scale", "a number in the reply is too large to be read") from None
    return end, value


def _closing(text: str, start: int) -> int:
    """The place behind the bracket that closes the one at `start`; brackets in strings do not count."""
    depth, in_string, escaped_at = 0, False, -1
    for mark in _STRUCTURE.finditer(text, start):
        char, place = mark.group(), mark.start()
        if place == escaped_at:
            continue
        if char == "\\" and in_string:
            escaped_at = place + 1
        elif char == '"':
            in_string = not in_string
        elif not in_string and char != "\\":
            depth += 1 if char in "[{" else -1
            if depth == 0:
                return place + 1
    raise _FaultyError("cut", "the reply breaks off inside its JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for key, value in pairs:
        if key in record:
            raise _FaultyError("repeated_key", f"key “{visible(key, 40)}” stands twice")
        record[key] = value
    return record


def _refuse_constant(name: str) -> Any:
    raise _FaultyError("not_json", f"{name} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=Decimal, strict=True
)


def _verdict(value: dict[str, Any], brief: Brief) -> ParsedVerdict:
    _exactly(value, KEYS, "key")
    rationale, scores, flag = (value[key] for key in KEYS)
    if not isinstance(rationale, str):
        raise _FaultyError("wrong_type", "“rationale” must be a string")
    if not isinstance(scores, dict):
        raise _FaultyError("wrong_type", "“scores” must be an object")
    if not isinstance(flag, bool):
        raise _FaultyError("wrong_type", "“red_flag” must be true or false, without quotes")
    _exactly(scores, brief.dimension_ids, "dimension")
    whole = {id_: _score(id_, scores[id_], brief) for id_ in brief.dimension_ids}
    return ParsedVerdict(rationale=_encodable(rationale), scores=whole, red_flag=flag)


def _exactly(value: dict[str, Any], wanted: tuple[str, ...], what: str) -> None:
    missing = [key for key in wanted if key not in value]
    if missing:
        raise _FaultyError("missing", f"{what} {', '.join(missing)} is missing")
    extra = [visible(key, 40) for key in value if key not in wanted]
    if extra:
        raise _FaultyError("extra", f"{what} {', '.join(extra[:5])} was not asked for")


def _score(id_: str, value: Any, brief: Brief) -> int:
    lowest, highest = min(brief.scale), max(brief.scale)
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        raise _FaultyError("wrong_type", f"the score of {id_} must be a number, without quotes")
    if not lowest <= value <= highest:
        raise _FaultyError("out_of_scale", f"the score of {id_} is not on the scale {lowest} to {highest}")
    if value != int(value):
        raise _FaultyError("not_whole", f"the score of {id_} must be a whole number")
    return int(value)


def _encodable(text: str) -> str:
    """The text with lone surrogates, which JSON escapes can smuggle in, replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")
