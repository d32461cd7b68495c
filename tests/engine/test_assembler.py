"""From bytes to a reply, without a network."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.kit.chat_server import answer, chunk, event
from tests.kit.recordings import CASES, ENGINES, timed_stream
from touchstone.engine import assembler as assembler_module
from touchstone.engine.assembler import Assembler
from touchstone.engine.reply import Reply


def assembled(*pieces: bytes, max_tokens: int | None = None) -> Reply:
    """The reply to bytes that all arrive at second one."""
    assembler = Assembler(max_tokens)
    for piece in pieces:
        assembler.feed(piece, 1.0)
    return assembler.close(1.0)


def of_events(*events: object, **settings: int) -> Reply:
    return assembled(b"".join(event(one) for one in events), **settings)


HALVES = b"".join(
    b'data: {"choices":[{"delta":{"content":"%b"}}]}\r\r' % half for half in (rb"\ud83d", rb"\ude00")
)


def _streams() -> list[bytes]:
    files = sorted((CASES / "stream").glob("*.sse"))
    recorded = sorted(ENGINES.glob("*/chat-stream*.txt"))
    thinking = answer(
        "<think>hm \ud83d\ude00</think>\n\nParis ✓ \ud83d\ude00".encode("utf-16", "surrogatepass").decode(
            "utf-16"
        )
    )
    whole = json.dumps({"choices": [{"message": {"content": "größer 那"}}]}, ensure_ascii=False).encode()
    return [
        *(path.read_bytes() for path in files),
        *(b"".join(data for _, data in timed_stream(path)) for path in recorded),
        b"".join(thinking.chunks),
        b"\xef\xbb\xbf" + whole,
        b"  \r\n" + whole,
        whole[:-5],
        HALVES + b"data: [DONE]",
        b"<html>not a stream</html>",
        b'data: {"choices":[{"delta":{"content":"\xff\xfe"}}]}\n\ndata: [DONE]\n\n',
    ]


STREAMS = _streams()


@given(st.sampled_from(STREAMS), st.lists(st.integers(0, 12_000), max_size=30))
@example(STREAMS[-4], [1, 2, 3])
def test_any_cut_gives_the_same_reply(raw: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(raw)) for cut in cuts), len(raw)]
    pieces = [raw[start:end] for start, end in itertools.pairwise(edges)]
    assert assembled(*pieces) == assembled(raw)


@pytest.mark.parametrize("raw", STREAMS, ids=range(len(STREAMS)))
def test_one_byte_at_a_time_gives_the_same_reply(raw: bytes) -> None:
    assert assembled(*(raw[n : n + 1] for n in range(len(raw)))) == assembled(raw)


@given(st.binary(max_size=300))
@example(b"data: " + b"[" * 100_000 + b"\n\n")
@example(b"data: 1" + b"0" * 5000 + b"\n\n")
@example(b'data: {"choices": [null, {"delta": 7}, {"index": 0, "delta": {"content": {"a": 1}}}]}\n\n')
@example(b'data: {"choices": {}, "usage": [], "timings": 3, "model": 7}\n\n')
def test_no_bytes_crash_it(raw: bytes) -> None:
    reply = assembled(raw)
    assert reply.status in ("ok", "empty", "reasoning_only", "truncated", "error")
    assert (reply.status == "error") == (reply.error_class is not None)
    reply.text.encode()


def test_surrogate_halves_over_two_chunks_are_joined_and_noted() -> None:
    halves = [
        b'data: {"choices":[{"delta":{"content":"%b"}}]}\n\n' % half for half in (rb"a\ud83d", rb"\ude00b")
    ]
    reply = assembled(*halves, event("[DONE]"))
    assert (reply.text, reply.notes[-1]) == ("a😀b", "surrogates_repaired")


def test_a_lone_half_becomes_a_replacement_character_and_is_noted() -> None:
    reply = assembled(b'data: {"choices":[{"delta":{"content":"a\\ud83d!"}}]}\n\ndata: [DONE]\n\n')
    assert (reply.text, reply.notes[-1]) == ("a\ufffd!", "surrogates_replaced")
    reply.text.encode()


def test_separators_inside_json_are_text() -> None:
    text = "a\u2028b\u2029c\u0085d"
    assert of_events(chunk({"content": text}), "[DONE]").text == text


def test_only_choice_zero_is_taken() -> None:
    two = {"choices": [{"index": 1, "delta": {"content": "B"}}, {"index": 0, "delta": {"content": "A"}}]}
    other_end = {"choices": [{"index": 1, "delta": {}, "finish_reason": "length"}]}
    reply = of_events(two, other_end, chunk({}, "stop"), "[DONE]")
    assert (reply.text, reply.finish_reason, reply.status) == ("A", "stop", "ok")


def test_content_as_a_list_of_parts() -> None:
    parts = [{"type": "text", "text": "Hel"}, {"type": "image"}, {"type": "text", "text": "lo"}]
    assert of_events(chunk({"content": parts}), "[DONE]").text == "Hello"


def test_reasoning_told_twice_counts_once() -> None:
    reply = of_events(
        chunk({"reasoning": "hm", "reasoning_content": "hm"}), chunk({"content": "4"}), "[DONE]"
    )
    assert (reply.text, reply.reasoning_chars) == ("4", 2)


def test_thinking_tags_cut_by_chunks() -> None:
    pieces = ["<th", "ink>h", "m</thi", "nk>", "\n\n", "4"]
    assembler = Assembler()
    for second, piece in enumerate(pieces, 1):
        assembler.feed(event(chunk({"content": piece})), float(second))
    assembler.feed(event("[DONE]"), 7.0)
    reply = assembler.close(9.0)
    assert (reply.text, reply.reasoning_chars, reply.status) == ("4", 2, "ok")
    assert (reply.ttft_s, reply.e2e_s) == (6.0, 7.0)


def test_thinking_that_never_ends_is_reasoning_only_even_when_cut() -> None:
    reply = of_events(chunk({"content": "<think>on and on"}), chunk({}, "length"), "[DONE]")
    assert (reply.status, reply.text, reply.reasoning_chars) == ("reasoning_only", "", 9)
    assert reply.notes == ("thinking_unclosed",)


def test_nothing_visible_is_empty() -> None:
    for content in (None, "", " \n"):
        assert of_events(chunk({"content": content}), chunk({}, "stop"), "[DONE]").status == "empty"


def test_the_cap_is_a_cut_whatever_the_server_says() -> None:
    usage = {"completion_tokens": 5}
    events = (chunk({"content": "Hi"}), chunk({}, "stop", usage=usage), "[DONE]")
    assert of_events(*events, max_tokens=5).status == "truncated"
    assert of_events(*events, max_tokens=6).status == "ok"
    assert of_events(*events).status == "ok"


def test_an_error_after_the_finish_reason_is_an_error() -> None:
    reply = of_events(chunk({"content": "Hi"}, "stop"), {"error": "late"}, "[DONE]")
    assert (reply.status, reply.text) == ("error", "Hi")


def test_what_follows_done_is_not_read() -> None:
    assert of_events(chunk({"content": "Hi"}), "[DONE]", {"error": "late"}).status == "ok"


def test_named_events_that_are_no_answer_are_passed_over() -> None:
    raw = event("still here", "ping") + event(chunk({"content": "Hi"})) + event("[DONE]")
    assert assembled(raw).text == "Hi"


def test_an_unreadable_event_is_an_error_not_a_gap() -> None:
    reply = of_events(chunk({"content": "Hi"}), "{oops", "[DONE]")
    assert (reply.status, reply.error_class, reply.text) == ("error", "in_band", "Hi")
    assert "{oops" in (reply.error_message or "")


def test_a_json_body_without_choices_is_an_error() -> None:
    reply = assembled(b'{"hello": 1}')
    assert (reply.status, reply.error_class) == ("error", "in_band")


@pytest.mark.parametrize(
    "body", [b'{"choices": [', b'{"choices": [{"message": {"content": "Hi', b'{"a"', b"{"]
)
def test_a_json_body_that_ends_too_early_was_cut(body: bytes) -> None:
    reply = assembled(body)
    assert (reply.status, reply.error_class) == ("error", "transport")
    assert reply.error_message == "the reply ended in the middle of its JSON body"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b'{"error": nope}', "Expecting value"),
        (b'{"error": "a\x01b"}', "Invalid control character at"),
        (b'{"usage": {"prompt_tokens": ' + b"1" * 5000 + b"}}", "Exceeds the limit"),
    ],
)
def test_a_body_that_is_wrong_before_its_end_was_not_cut(body: bytes, why: str) -> None:
    reply = assembled(body)
    assert (reply.status, reply.error_class) == ("error", "in_band")
    assert (reply.error_message or "").startswith(f"the reply is not valid JSON ({why}")
    assert body[:10].decode() in (reply.error_message or "")


def test_counts_are_the_engines_own_or_none() -> None:
    lies: tuple[object, ...] = (-1, True, "7", 7.5, None, {})
    for bad in lies:
        usage = {"prompt_tokens": bad, "completion_tokens": bad, "prompt_tokens_details": bad}
        reply = of_events(chunk({"content": "Hi"}), chunk(None, usage=usage), "[DONE]")
        assert reply.prompt_tokens is reply.completion_tokens is reply.cached_tokens is None


def test_no_rate_without_a_window_or_without_the_cached_share() -> None:
    usage = {"prompt_tokens": 50, "completion_tokens": 9}
    reply = of_events(chunk({"content": "all at once"}), chunk(None, usage=usage), "[DONE]")
    assert reply.decode_tps is None
    assert reply.prefill_tps is None
    assert reply.completion_tokens == 9


def test_the_engines_own_rate_of_one_token_says_nothing() -> None:
    timings = {"predicted_n": 1, "predicted_ms": 0.001, "predicted_per_second": 1e6}
    assert of_events(chunk({"content": "x"}), chunk({}, "stop", timings=timings), "[DONE]").decode_tps is None


def test_more_than_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembler_module, "MAX_SIZE", 2**20)
    for raw in (
        b"data: " + b"x" * 2**20 + b"x",
        b'{"a": "' + b"x" * 2**20,
        event(chunk({"content": "x" * 2**20 + "x"})),
    ):
        assembler = Assembler()
        assembler.feed(raw, 1.0)
        assert assembler.finished
        reply = assembler.close(1.0)
        assert (reply.status, reply.error_message) == ("error", "the reply is larger than 1 MiB")


def test_folders_and_tokens_are_stripped_from_the_served_model() -> None:
    model = "/Users/ada/models/smollm2-mlx"
    assert of_events(chunk({"content": "x"}, model=model), "[DONE]").served_model == "smollm2-mlx"
