"""Five places where bytes of strangers are read or shown, each as a function of bytes that fails on a fault.

A fault is an exception that is no named problem, a value that nobody wrote, or a construct that is live; the
time is watched by who calls. `python -m tests.fuzz.run` mutates inputs by what they cover; `test_targets`
plays the seeds, everything that was ever found, and a few mutations.
"""

from __future__ import annotations

import copy
import itertools
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.engine.test_assembler import STREAMS, assembled
from tests.judge.scenes import brief, verdict_text
from tests.kit import reviews
from tests.kit.hostile import HOSTILE, SNIPPETS
from tests.render.test_comment import BUDGET, assert_inert, size
from touchstone.baseline import store
from touchstone.config import CompareSettings
from touchstone.errors import BadInputError
from touchstone.files import digest_of
from touchstone.judge.reply import Fault, parse_reply
from touchstone.pack.digest import checks_of, hashes_of, suite_of
from touchstone.pack.load import LoadedPack, pack_from
from touchstone.pack.schema import Pack
from touchstone.render.comment import comment_text
from touchstone.yaml_source import ProblemsError

CASES = Path(__file__).parent.parent / "cases"
FOUND = CASES / "fuzz"
PLACE = CASES / "packs" / "good" / "pack.yaml"
ASKED = brief("Q1", "Q2")

Target = Callable[[bytes], None]


def pack(data: bytes) -> None:
    """A pack file is a pack, or named problems; the pack says what the file says."""
    try:
        loaded = pack_from(data, PLACE)
    except ProblemsError as error:
        for line in error.message.split("\n"):
            assert line.startswith((str(PLACE.parent), "…"))
            assert "pydantic" not in line
        return
    is_whole(loaded)
    again = pack_from(as_json(loaded.pack).encode(), PLACE)
    assert again.pack == loaded.pack, "the same values, written otherwise, are another pack"


def as_json(pack: Pack) -> str:
    """A pack as JSON, which is YAML; only the keys of a scale are numbers there, and stand bare."""
    text = json.dumps(pack.model_dump(by_alias=True, exclude_unset=True))
    scale = json.dumps(pack.scale)
    return text.replace(scale, re.sub(r'"(-?\d+)": "', r'\1: "', scale), 1)


def is_whole(loaded: LoadedPack) -> None:
    """Whatever was loaded can be frozen and hashed."""
    suite = suite_of(loaded, compare=CompareSettings(), judge=None, extra_body={})
    assert hashes_of(suite).pack == suite.pack_sha256
    for _, prompt in loaded.pack.prompts():
        assert checks_of(suite, prompt.id) == prompt.checks


def judge(data: bytes) -> None:
    """A judge's reply is a fault with a reason, or a verdict whose numbers it really wrote.

    The first byte says how much of the rest is the answer that was judged.
    """
    length, rest = (data[0] if data else 0), data[1:].decode("utf-8", "surrogateescape")
    answer, text = rest[:length], rest[length:]
    verdict = parse_reply(text, ASKED, answer)
    if isinstance(verdict, Fault):
        assert verdict.detail
        return
    assert list(verdict.scores) == ["Q1", "Q2"]
    written = {int(float(number)) for number in re.findall(r"\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?", text)}
    assert set(verdict.scores.values()) <= written & set(ASKED.scale)
    assert "true" in text if verdict.red_flag else "false" in text
    verdict.rationale.encode()
    assert text.strip() not in answer, "the verdict is the answer's own"


def stream(data: bytes) -> None:
    """A stream gives the same reply however it is cut; what it counts stands in it.

    The first byte is the size of the pieces.
    """
    size_of_piece, raw = (data[0] + 1 if data else 1), data[1:]
    reply = assembled(raw)
    edges = [*range(0, len(raw), size_of_piece), len(raw)]
    assert assembled(*(raw[start:end] for start, end in itertools.pairwise(edges))) == reply
    assert (reply.status == "error") == (reply.error_class is not None)
    reply.text.encode()
    for count in (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens):
        assert count is None or str(count).encode() in raw
    for text in (reply.served_model, reply.finish_reason, reply.system_fingerprint):
        assert text is None or text.encode()
    assert not reply.text or b"content" in raw or b"text" in raw


def baseline(data: bytes) -> None:
    """A baseline is refused with its name, or is written again as it is; a mended digest helps nobody."""
    _baseline(data)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return
    if isinstance(value, dict):
        try:
            value["digest"] = digest_of({key: item for key, item in value.items() if key != "digest"})
            mended = json.dumps(value).encode()
        except (ValueError, RecursionError):  # half a character, or too deep to be written
            return
        _baseline(mended)


def _baseline(data: bytes) -> None:
    refused = ""
    try:
        kept = store.parse(data, "b.json")
    except BadInputError as error:
        refused = error.message
    if refused:
        assert refused.startswith("b.json")
        assert "pydantic" not in refused
        return
    written = store.dump(kept)
    assert store.dump(store.parse(written, "b.json")) == written
    assert store.layout_damage(written, kept, "b.json") is None


def comment(data: bytes) -> None:
    """A text in every place of a pull request's comment stays text, and the comment in its budget."""
    text = data.decode("utf-8", "replace")
    told = comment_text(reviews.saying(text), reviews.OCCASION)
    assert_inert(told)
    assert size(told) <= BUDGET


TARGETS: dict[str, Target] = {
    "pack": pack,
    "judge": judge,
    "stream": stream,
    "baseline": baseline,
    "comment": comment,
}


LONGEST_INPUT = {"pack": 6000, "judge": 4000, "stream": 1500, "baseline": 40_000, "comment": 2000}
"""Bytes. A stream is also played byte by byte, and a comment holds its text in some forty places."""


def altered_json(data: bytes, chance: random.Random) -> bytes:
    """JSON with one value somewhere in it left out, doubled, moved or replaced; other bytes as they are."""
    try:
        whole = json.loads(data)
        places = list(_places(whole))
    except (ValueError, RecursionError):
        return data
    if not places:
        return data
    holder, key = chance.choice(places)
    other_holder, other_key = chance.choice(places)
    kind = chance.randrange(5)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder.insert(key, holder[key])
    elif kind == 2 and isinstance(holder[key], int | float):
        holder[key] += chance.choice((1, -1, 0.5, 1e9))
    elif kind == 3:
        holder[key] = chance.choice((None, True, 0, -1, 1.5, "", "x", [], {}, "\u2028", 2**70, [[]]))
    else:
        holder[key] = copy.deepcopy(other_holder[other_key])
    return json.dumps(whole).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (holder, key) below a value."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


MUTATORS: dict[str, Callable[[bytes, random.Random], bytes]] = {"baseline": altered_json}
"""How inputs of a strict form are changed, where single bytes would only break the form."""


def seeds(name: str) -> list[bytes]:
    """Inputs to begin with: real ones, and whatever was found before."""
    found = [path.read_bytes() for path in sorted((FOUND / name).glob("*"))]
    return found + _SEEDS[name]()


def words(name: str) -> list[bytes]:
    """What inputs of this kind are made of."""
    return _WORDS[name]


def _pack_seeds() -> list[bytes]:
    files = sorted((CASES / "packs").rglob("*.yaml"))
    return [path.read_bytes() for path in files if path.stat().st_size < 8000]


def _judge_seeds() -> list[bytes]:
    replies = [path.read_bytes() for path in sorted((CASES / "public" / "judge").glob("*.txt"))]
    good = verdict_text({"Q1": 4, "Q2": 5}, False, "As seen.")
    dressed = [good, f"```json\n{good}\n```", f"<think>hm</think>{good}", f"So {{a}} {good} done", good * 2]
    quoted = bytes([len(good)]) + (good + good).encode()
    return [*(b"\x00" + reply for reply in replies), *(b"\x00" + text.encode() for text in dressed), quoted]


def _stream_seeds() -> list[bytes]:
    return [bytes([size]) + raw[:6000] for raw in STREAMS for size in (0, 6)]


def _baseline_seeds() -> list[bytes]:
    files = [*(CASES / "public" / "json").glob("*"), *(CASES / "schema1" / "baselines").rglob("*.json")]
    return [path.read_bytes() for path in sorted(files)]


def _comment_seeds() -> list[bytes]:
    return [text.encode("utf-8", "replace") for text in HOSTILE.values() if len(text) < 3000]


_SEEDS: dict[str, Callable[[], list[bytes]]] = {
    "pack": _pack_seeds,
    "judge": _judge_seeds,
    "stream": _stream_seeds,
    "baseline": _baseline_seeds,
    "comment": _comment_seeds,
}

_JSON_WORDS = [mark.encode() for mark in (*'{}[]",:\\', "\\u", "\\ud83d", "null", "true", "1e9", "-0", "NaN")]
_JUDGE_WORDS = ['"rationale"', '"scores"', '"red_flag"', '"Q1"', '"Q2"', "<think>", "```json"]
_STREAM_WORDS = [
    "data: ", "\n\n", "\r\n", "event: error", '"choices"', '"delta"', '"content"', '"usage"', "[DONE]",
    "\ufeff", '"completion_tokens"', '"finish_reason"', '"error"', '"message"',
]  # fmt: skip
_WORDS: dict[str, list[bytes]] = {
    "pack": sorted({word for seed in _pack_seeds() for word in seed.split()})[:600],
    "judge": [*_JSON_WORDS, *(word.encode() for word in _JUDGE_WORDS)],
    "stream": [*_JSON_WORDS, *(word.encode() for word in _STREAM_WORDS)],
    "baseline": [*_JSON_WORDS, *sorted(set(re.findall(rb'"\w+"', b"".join(_baseline_seeds()))))],
    "comment": [snippet.encode("utf-8", "replace") for snippet in SNIPPETS if 0 < len(snippet) < 60],
}
