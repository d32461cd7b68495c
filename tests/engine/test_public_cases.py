"""The stream and http cases of tests/cases/public/index.tsv, each asked through the client, and for each
kind one more of our own."""

from __future__ import annotations

import csv
import json
import time

import pytest

from tests.engine.asking import HELLO, asked, endpoint, reply_to
from tests.kit.chat_server import ChatServer, Script, answer, chunk, event, recorded, stream, whole
from tests.kit.recordings import CASES
from touchstone.engine.client import ChatClient
from touchstone.engine.reply import ChatRequest, Reply


def case(name: str) -> Script:
    """The event stream of a case file, cut where its `.splits` file says."""
    raw = (CASES / "stream" / f"{name}.sse").read_bytes()
    splits = CASES / "stream" / f"{name}.splits"
    lines = splits.read_text().splitlines() if splits.exists() else []
    return stream(raw, [int(line) for line in lines if not line.startswith("#")], delays=(0, 0.02))


def test_every_stream_and_http_case_has_a_test_here() -> None:
    with (CASES / "index.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    ids = [row[0] for row in rows if row[1] in ("stream", "http")]
    mine = {name.split("_")[1] for name in globals() if name.startswith(("test_S", "test_T"))}
    assert set(ids) <= mine
    assert len(ids) > 15


def test_S01_usage_on_its_own_chunk_with_empty_choices() -> None:
    reply = reply_to(case("S01-usage-chunk-empty-choices"))
    assert (reply.status, reply.text, reply.finish_reason) == ("ok", "Hello world", "stop")
    assert (reply.prompt_tokens, reply.completion_tokens) == (9, 2)


def test_S01_own_usage_rides_on_the_finish_chunk_and_a_null_usage_follows() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 1}
    events = [chunk({"content": "Hi"}), chunk({}, "stop", usage=usage), chunk(None, usage=None), "[DONE]"]
    reply = reply_to(Script([event(one) for one in events]))
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ("Hi", 5, 1)


def test_S03_comments_are_no_content() -> None:
    assert _same_as_plain(reply_to(case("S03-comment-keepalive")), "Hello world")


def test_S03_comments_keep_the_idle_limit_away() -> None:
    slow = [b": processing\n\n"] * 8 + list(answer("Hello world").chunks)
    reply = reply_to(Script(slow, delays=(0.2,) * 8 + (0.0,)), idle_s=1.0)
    assert _same_as_plain(reply, "Hello world")
    assert reply.ttft_s is not None
    assert reply.ttft_s > 1.5


def test_S06_crlf() -> None:
    assert _same_as_plain(reply_to(case("S06-crlf")), "Hello world")


def test_S06_own_lone_cr() -> None:
    raw = (CASES / "stream" / "S06-crlf.sse").read_bytes().replace(b"\r\n", b"\r")
    assert _same_as_plain(reply_to(stream(raw, [50, 51, 400], delays=(0, 0.02))), "Hello world")


def test_S08_a_character_cut_by_a_network_read() -> None:
    reply = reply_to(case("S08-cjk-split"))
    assert reply.text == "那个 ok ✓"
    assert "invalid_utf8" not in reply.notes


def test_S08_own_an_emoji_comes_one_byte_at_a_time() -> None:
    raw = b"".join(answer("grüße 👩‍🚀 Ende").chunks)
    start = raw.index("👩".encode())
    reply = reply_to(stream(raw, range(start, start + 12), delays=(0, 0.002)))
    assert reply.text == "grüße 👩‍🚀 Ende"


def test_S10_an_error_event_after_text() -> None:
    reply = reply_to(case("S10-error-event"))
    assert (reply.status, reply.text, reply.error_class) == ("error", "Par", "in_band")
    assert reply.error_message == "The model has crashed"


def test_S10_own_an_error_event_whose_data_is_plain_text() -> None:
    script = Script([event(chunk({"content": "Par"})), event("out of memory", "error"), event("[DONE]")])
    reply = reply_to(script)
    assert (reply.status, reply.text, reply.error_message) == ("error", "Par", "out of memory")


def test_S12_an_error_in_a_data_line() -> None:
    reply = reply_to(case("S12-error-in-data"))
    assert (reply.status, reply.text) == ("error", "Par")
    assert reply.error_class == "context_overflow"
    assert reply.error_message == "Context size has been exceeded."


@pytest.mark.parametrize(
    ("complaint", "message"),
    [
        ({"error": {"message": "no more"}}, "no more"),
        ({"error": "no more"}, "no more"),
        ({"detail": {"error": {"message": "no more", "code": 500}}}, "no more"),
        ({"detail": [{"loc": ["body", "model"], "msg": "no more"}]}, "body.model: no more"),
        ({"detail": "no more"}, "no more"),
        ({"object": "error", "message": "no more"}, "no more"),
        ({**chunk({"content": ""}, "error"), "error": {"message": "no more"}}, "no more"),
    ],
)
def test_S12_own_every_shape_of_complaint_ends_the_answer(complaint: object, message: str) -> None:
    script = Script(
        [event(chunk({"content": "Par"})), event(complaint), event(chunk({}, "stop")), event("[DONE]")]
    )
    reply = reply_to(script)
    assert (reply.status, reply.text, reply.error_message) == ("error", "Par", message)


def test_S14_no_finish_reason() -> None:
    reply = reply_to(case("S14-no-finish-reason"))
    assert (reply.status, reply.text, reply.finish_reason) == ("ok", "Hello world", None)
    assert "no_finish_reason" in reply.notes


def test_S14_own_neither_finish_reason_nor_done_is_a_cut() -> None:
    raw = b"".join(answer("Hello world").chunks[:3])
    reply, pauses = asked(stream(raw))
    assert (reply.status, reply.error_class, reply.text) == ("error", "transport", "Hello world")
    assert (reply.attempts, pauses) == (4, [1, 2, 4])


def test_S14_own_cut_in_the_middle_of_an_event() -> None:
    raw = b"".join(answer("Hello world").chunks[:3])
    reply, _ = asked(stream(raw[:-20]), retries=0)
    assert (reply.status, reply.error_class, reply.text) == ("error", "transport", "Hello")


def test_S16_finish_reason_but_no_done() -> None:
    reply = reply_to(case("S16-finish-but-no-done"))
    assert _same_as_plain(reply, "Hello world")
    assert reply.notes == ("no_done",)


def test_S16_own_the_connection_is_reset_after_the_finish_reason() -> None:
    chunks = [event(chunk({"content": "Hi"})), event(chunk({}, "stop"))]
    reply = reply_to(Script(chunks, ending="reset", delays=(0, 0.02)))
    assert (reply.status, reply.text, reply.attempts) == ("ok", "Hi", 1)
    assert {"no_done", "cut_after_finish"} == set(reply.notes)


def test_S17_an_empty_finish_reason_is_none() -> None:
    reply = reply_to(case("S17-empty-string-finish-reason"))
    assert (reply.status, reply.text, reply.finish_reason) == ("ok", "Hello world!", "stop")


def test_S17_own_only_empty_finish_reasons_are_none_at_all() -> None:
    raw = b"".join(event(chunk({"content": "Hi"}, "")) for _ in range(2)) + event("[DONE]")
    reply = reply_to(stream(raw))
    assert (reply.status, reply.text, reply.finish_reason) == ("ok", "HiHi", None)


def test_S19_reasoning_then_content() -> None:
    reply = reply_to(case("S19-reasoning-then-content"))
    assert (reply.status, reply.text) == ("ok", "4")
    assert reply.reasoning_chars == len("Let me think. 2+2=4.")


def test_S19_ttft_is_the_first_visible_text_and_reasoning_is_timed_apart() -> None:
    script = answer("4", reasoning="Let me think", delays=(0.0, 0.1))
    reply = reply_to(script)
    assert reply.ttft_s is not None
    assert reply.ttft_s > 0.35
    assert reply.prefill_tps is not None
    assert reply.prefill_tps > 7 / 0.2


def test_S19_own_reasoning_and_nothing_else() -> None:
    events = [chunk({"reasoning": "Hm, "}), chunk({"reasoning": "hm."}), chunk({}, "length"), "[DONE]"]
    reply = reply_to(Script([event(one) for one in events]))
    assert (reply.status, reply.text, reply.reasoning_chars) == ("reasoning_only", "", 7)
    assert reply.ttft_s is None


def test_S23_no_usage_means_no_counts_and_no_rates() -> None:
    reply = reply_to(case("S23-no-usage"))
    assert (reply.status, reply.text) == ("ok", "Hello world")
    assert reply.prompt_tokens is reply.completion_tokens is reply.cached_tokens is None
    assert reply.decode_tps is reply.prefill_tps is None


def test_S23_own_a_count_of_zero_beside_text_is_no_count() -> None:
    reply = reply_to(answer("Hi there", usage={"prompt_tokens": 0, "completion_tokens": 0}))
    assert reply.prompt_tokens is reply.completion_tokens is None


def test_S26_a_clean_200_without_events_is_an_error_and_retried() -> None:
    reply, pauses = asked(case("S26-clean-200-no-events"))
    assert (reply.status, reply.error_class) == ("error", "empty_stream")
    assert "text/event-stream" in (reply.error_message or "")
    assert (reply.attempts, pauses) == (4, [1, 2, 4])


def test_S26_own_only_comments_then_an_answer_at_the_second_try() -> None:
    reply, pauses = asked([Script([b": hello\n\n"]), answer("fine")])
    assert (reply.status, reply.text, reply.attempts, pauses) == ("ok", "fine", 2, [1])


def test_S27_no_charset_is_utf8() -> None:
    assert reply_to(recorded(CASES / "stream" / "S27-no-charset.http")).text == "Größe 那个"


def test_S27_own_a_wrong_charset_is_utf8_too() -> None:
    script = Script(answer("Größe").chunks, headers=(("Content-Type", "text/event-stream; charset=latin-1"),))
    assert reply_to(script).text == "Größe"


def test_T01_a_429_waits_the_seconds_it_names() -> None:
    reply, pauses = asked([recorded(CASES / "http" / "T01-429-seconds.http"), answer("there")])
    assert (reply.status, reply.text, reply.attempts, pauses) == ("ok", "there", 2, [2])


def test_T01_own_a_502_that_passes() -> None:
    reply, pauses = asked([whole("bad gateway", 502), whole({"error": "busy"}, 504), answer("there")])
    assert (reply.status, reply.attempts, pauses) == ("ok", 3, [1, 2])


def test_T04_a_503_while_loading_is_waited_for_and_costs_no_retry() -> None:
    loading = recorded(CASES / "http" / "T04-503-loading.http")
    reply, pauses = asked([loading] * 8 + [answer("there")], load_s=60, retries=0)
    assert (reply.status, reply.text, reply.attempts) == ("ok", "there", 1)
    assert pauses == [1, 2, 4, 4, 4, 4, 4, 4]
    assert "waited_for_load" in reply.notes


def test_T04_own_a_model_that_never_loads_ends_at_the_load_limit() -> None:
    reply, pauses = asked(whole({"error": {"message": "model is not ready yet"}}, 503), load_s=10)
    assert (reply.status, reply.error_class) == ("error", "timeout_load")
    assert sum(pauses) <= 10


def test_T06_a_200_with_an_error_body_is_retried_by_the_code_it_carries() -> None:
    reply, pauses = asked(recorded(CASES / "http" / "T06-200-error-body.http"))
    assert (reply.status, reply.error_class) == ("error", "in_band")
    assert reply.error_message == "upstream flagged the content"
    assert (reply.attempts, pauses) == (4, [1, 2, 4])


def test_T06_own_a_passing_complaint_after_text_is_final() -> None:
    late = Script([event(chunk({"content": "Par"})), event({"error": {"code": 502, "message": "gone"}})])
    reply, pauses = asked(late)
    assert (reply.status, reply.text, pauses) == ("error", "Par", [])


def test_T06_own_a_200_whose_complaint_is_final() -> None:
    reply, pauses = asked(whole({"error": {"message": "upstream flagged the content", "code": 400}}))
    assert (reply.status, reply.error_class, reply.attempts, pauses) == ("error", "in_band", 1, [])


def test_T08_a_crash_in_the_middle_gives_an_error_with_the_partial_text() -> None:
    crash = Script(answer("Hello world, all of it").chunks[:3], ending="reset", delays=(0.0, 0.02))
    reply, _ = asked(crash, retries=1)
    assert (reply.status, reply.error_class, reply.text) == ("error", "transport", "Hello world,")
    assert reply.attempts == 2


def test_T08_own_the_partial_text_survives_a_server_that_is_gone_afterwards() -> None:
    crash = Script(answer("Hello world").chunks[:3], ending="cut")
    reply, _ = asked([crash, whole({"error": "starting"}, 502)], retries=1)
    assert (reply.status, reply.text) == ("error", "Hello world")
    assert "partial_of_earlier_try" in reply.notes


def test_T10_the_prompt_count_that_compare_needs_is_recorded() -> None:
    kept = json.loads((CASES / "http" / "T10-prompt-silently-cut.json").read_text())
    usage = {"prompt_tokens": kept["run"]["prompt_tokens"], "completion_tokens": 1}
    reply = reply_to(answer("cut", usage=usage))
    assert (reply.prompt_tokens, reply.finish_reason) == (2050, "stop")


def test_T12_a_server_that_never_says_a_byte_ends_at_the_load_limit() -> None:
    began = time.monotonic()
    reply, pauses = asked(Script(ending="hang", delays=()), load_s=0.4)
    assert (reply.status, reply.error_class, pauses) == ("error", "timeout_load", [])
    assert 0.3 < time.monotonic() - began < 3


def test_T12_silence_after_the_first_text_ends_at_the_idle_limit() -> None:
    reply = reply_to(Script(answer("Hello world").chunks[:2], ending="hang"), idle_s=0.4)
    assert (reply.status, reply.error_class, reply.text) == ("error", "timeout_idle", "Hello")


def test_T12_own_an_endless_trickle_ends_at_the_total_limit() -> None:
    drip = Script([event(chunk({"content": "x"}))] * 1000, delays=(0.02,))
    reply = reply_to(drip, ChatRequest("local-test", ()), total_s=0.5)
    assert (reply.status, reply.error_class) == ("error", "timeout_total")
    assert len(reply.text) > 5


def test_the_run_goes_on_after_a_limit() -> None:
    with (
        ChatServer([Script(ending="hang", delays=()), answer("next")]) as server,
        ChatClient(endpoint(server.base_url, load_s=0.3)) as client,
    ):
        assert client.ask(HELLO).error_class == "timeout_load"
        assert client.ask(HELLO).text == "next"


def _same_as_plain(reply: Reply, text: str) -> bool:
    return (reply.status, reply.text, reply.finish_reason) == ("ok", text, "stop")
