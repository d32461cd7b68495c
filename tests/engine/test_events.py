"""The byte framing of event streams."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.engine.events import Event, EventFramer


def framed(*pieces: bytes) -> list[Event]:
    framer = EventFramer()
    events = [event for piece in pieces for event in framer.feed(piece)]
    return events + framer.close()


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_line_ends(end: bytes) -> None:
    raw = end.join([b": hello", b"data: one", b"", b"event: error", b"data: two", b"data:three", b"", b""])
    assert framed(raw) == [Event("", b"one"), Event("error", b"two\nthree")]


def test_a_cr_lf_cut_in_two_is_one_line_end() -> None:
    assert framed(b"data: one\r", b"\ndata: two\r", b"\n\r", b"\n") == [Event("", b"one\ntwo")]


def test_a_lone_cr_is_seen_without_waiting_for_more() -> None:
    assert EventFramer().feed(b"data: one\r\r") == [Event("", b"one")]


def test_a_byte_order_mark_is_dropped_at_the_start_only() -> None:
    assert framed(b"\xef\xbb", b"\xbfdata: one\n\n\xef\xbb\xbfdata: two\n\n") == [Event("", b"one")]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c"])
def test_other_separators_are_data(separator: str) -> None:
    data = f"a{separator}b".encode()
    assert framed(b"data: " + data + b"\n\n") == [Event("", data)]


def test_fields_without_a_colon_ids_and_unknown_fields() -> None:
    assert framed(b"data\nid: 7\nretry: 10\nfoo: bar\n\nid: 8\n\n") == [Event("", b"")]


def test_only_one_space_is_taken_off() -> None:
    assert framed(b"data:  x\n\n") == [Event("", b" x")]


def test_an_event_name_lasts_for_one_event() -> None:
    assert framed(b"event: ping\ndata: 1\n\ndata: 2\n\n") == [Event("ping", b"1"), Event("", b"2")]


def test_a_last_event_without_its_empty_line_is_marked() -> None:
    assert framed(b"data: [DONE]") == [Event("", b"[DONE]", whole=False)]
    assert framed(b"data: [DONE]\n") == [Event("", b"[DONE]", whole=False)]


def test_a_bare_json_line_is_data() -> None:
    assert framed(b'data: 1\n\n{"error": "gone"}\n') == [
        Event("", b"1"),
        Event("", b'{"error": "gone"}', False),
    ]


def test_what_is_held_is_counted_until_the_event_ends() -> None:
    framer = EventFramer()
    framer.feed(b"data: 12345")
    assert framer.held == 11
    framer.feed(b"\n\n")
    assert framer.held == 0


LINES = st.lists(
    st.sampled_from(
        [b"data: \xe2\x82\xac", b"data:x", b": c", b"event: e", b"", b"", b"{}", b"\xef\xbb\xbfdata: y"]
    ),
    max_size=12,
)


@given(LINES, st.sampled_from([b"\n", b"\r\n", b"\r"]), st.lists(st.integers(0, 120)))
def test_any_cut_gives_the_same_events(lines: list[bytes], end: bytes, cuts: list[int]) -> None:
    raw = end.join(lines)
    edges = [0, *sorted(min(cut, len(raw)) for cut in cuts), len(raw)]
    pieces = [raw[a:b] for a, b in itertools.pairwise(edges)]
    assert framed(*pieces) == framed(raw)
