"""Every reply recorded from the three real engines, played again through the client."""

from __future__ import annotations

import itertools

import pytest

from tests.engine.asking import HELLO, asked, reply_to
from tests.kit.chat_server import Script
from tests.kit.recordings import ENGINES, sections, timed_stream
from touchstone.engine.assembler import Assembler
from touchstone.engine.reply import ChatRequest, Reply

LLAMA_TEXT = "L'Étoile, la Marseillaise, la femme, la femme au martyre, la femme au martyre, la fem"
PARIS = "The capital of France is Paris."
FINGERPRINT = "0.32.2-0.32.4-Linux-6.x-x86_64-with-glibc2.36-x86_64"
CAPPED = ChatRequest("models/smollm2-mlx", ({"role": "user", "content": "Hi"},), max_tokens=5)


def assembled(path: str) -> Reply:
    """A recorded stream put together at the seconds it was recorded at."""
    assembler = Assembler()
    at = 0.0
    for at, data in timed_stream(ENGINES / path):
        assembler.feed(data, at)
    return assembler.close(at)


def of_file(path: str) -> Script:
    (script,) = sections(ENGINES / path).values()
    return script


@pytest.mark.parametrize(
    ("path", "text", "status", "finish", "prompt", "completion", "cached"),
    [
        ("llamacpp/chat-stream-usage.txt", LLAMA_TEXT, "truncated", "length", 37, 32, 36),
        ("llamacpp/chat-stream-no-usage.txt", LLAMA_TEXT, "truncated", "length", None, None, 36),
        ("mlx-lm/chat-stream-usage.txt", PARIS, "ok", "stop", 37, 8, 36),
        ("mlx-lm/chat-stream-no-usage.txt", PARIS, "ok", "stop", None, None, None),
        ("mlx-openai-server/chat-stream-usage.txt", PARIS, "ok", "stop", 37, 8, 36),
        ("mlx-openai-server/chat-stream-no-usage.txt", PARIS, "ok", "stop", 37, 8, 36),
    ],
)
def test_streams_give_text_counts_finish_and_status(
    path: str,
    text: str,
    status: str,
    finish: str,
    prompt: int | None,
    completion: int | None,
    cached: int | None,
) -> None:
    for reply in (assembled(path), reply_to(of_file(path))):
        assert (reply.status, reply.text, reply.finish_reason) == (status, text, finish)
        assert (reply.prompt_tokens, reply.completion_tokens) == (prompt, completion)
        assert reply.cached_tokens == cached
        assert reply.error_class is None


def test_llamacpp_names_no_build_and_times_itself() -> None:
    reply = assembled("llamacpp/chat-stream-usage.txt")
    assert reply.system_fingerprint is None  # b0-unknown is no build
    assert reply.served_model == "smollm2-135m-instruct"
    assert reply.ttft_s == pytest.approx(0.0107)
    assert reply.e2e_s == pytest.approx(0.282)
    assert reply.decode_tps == pytest.approx(114.31690120069624)
    assert reply.prefill_tps == pytest.approx(118.16140848398913)


def test_mlx_lm_first_token_is_not_the_first_line() -> None:
    reply = assembled("mlx-lm/chat-stream-usage.txt")
    assert reply.ttft_s == pytest.approx(0.3971)
    assert reply.decode_tps == pytest.approx(7 / (1.7738 - 0.3971))
    assert reply.system_fingerprint == FINGERPRINT
    assert reply.served_model == "models/smollm2-mlx"


def test_mlx_openai_server_role_chunk_is_no_token() -> None:
    reply = assembled("mlx-openai-server/chat-stream-usage.txt")
    assert reply.ttft_s == pytest.approx(0.8132)
    assert reply.decode_tps == pytest.approx(7 / (1.6261 - 0.8132))
    assert reply.prefill_tps == pytest.approx(1 / 0.8132)
    assert reply.system_fingerprint is None


@pytest.mark.parametrize("engine", ["llamacpp", "mlx-lm", "mlx-openai-server"])
def test_max_tokens_is_a_cut_whatever_the_finish_reason_says(engine: str) -> None:
    reply = reply_to(of_file(f"{engine}/max-tokens-cut.txt"), CAPPED)
    assert (reply.status, reply.text) == ("truncated", "A lighthouse is a marvel")
    assert reply.finish_reason == ("stop" if engine == "mlx-openai-server" else "length")


@pytest.mark.parametrize("engine", ["llamacpp", "mlx-lm", "mlx-openai-server"])
def test_a_whole_completion_is_an_answer_too(engine: str) -> None:
    reply = reply_to(of_file(f"{engine}/stop-sequence.txt"))
    assert reply.status == "ok"
    assert reply.text.endswith("to illuminate the darkness")
    assert (reply.prompt_tokens, reply.completion_tokens) == (39, 26)
    assert reply.ttft_s is None
    assert "not_streamed" in reply.notes


FINAL = [
    ("llamacpp", "context overflow (about 16k tokens)", "context_overflow", "exceeds the available context"),
    ("llamacpp", "context overflow, stream=true", "context_overflow", "1024 tokens"),
    ("llamacpp", "broken JSON", "http", "HTTP 400: [json.exception.parse_error.101]"),
    ("llamacpp", "messages missing", "http", "HTTP 400: 'messages' is required"),
    ("llamacpp", "temperature as string", "http", "HTTP 400"),
    ("llamacpp", "wrong path", "http", "HTTP 404: File Not Found"),
    ("mlx-lm", "unknown model", "no_such_model", "Cannot find an appropriate cached snapshot"),
    ("mlx-lm", "broken JSON", "http", "HTTP 400: Invalid JSON in request body"),
    ("mlx-lm", "messages missing", "http", "HTTP 400: Request did not contain messages"),
    ("mlx-lm", "messages empty", "http", "HTTP 404: Cannot apply chat template"),
    ("mlx-lm", "max_tokens 0", "http", "HTTP 400: max_tokens must be at least 1"),
    ("mlx-openai-server", "unknown model", "no_such_model", "Model 'no-such-model' not found"),
    ("mlx-openai-server", "broken JSON", "http", "HTTP 422: body.1: JSON decode error"),
    ("mlx-openai-server", "messages missing", "http", "HTTP 422: body.messages: Field required"),
    ("mlx-openai-server", "messages empty", "http", "HTTP 500: Failed to generate text response"),
    ("mlx-openai-server", "wrong path", "http", "HTTP 404: Not Found"),
    ("mlx-openai-server", "developer role", "http", "HTTP 422"),
]


@pytest.mark.parametrize(("engine", "title", "error_class", "message"), FINAL)
def test_refusals_are_final_and_say_why(engine: str, title: str, error_class: str, message: str) -> None:
    reply, pauses = asked(sections(ENGINES / engine / "errors.txt")[title])
    assert (reply.status, reply.error_class) == ("error", error_class)
    assert message in (reply.error_message or "")
    assert (reply.attempts, pauses) == (1, [])


def test_every_recorded_reply_is_read_without_a_crash() -> None:
    engines = ("llamacpp", "mlx-lm", "mlx-openai-server")
    files = itertools.chain.from_iterable(sorted((ENGINES / engine).glob("*.txt")) for engine in engines)
    scripts = [
        script for path in files if "disconnect" not in path.name for script in sections(path).values()
    ]
    replies = [reply_to(script, HELLO, retries=0) for script in scripts]
    assert len(replies) > 90
    assert {reply.status for reply in replies} == {"ok", "truncated", "error"}


def test_another_models_answer_is_noted_and_stops_only_when_strict() -> None:
    script = sections(ENGINES / "llamacpp" / "errors.txt")["unknown model"]
    request = ChatRequest("no-such-model", HELLO.messages)
    lenient, strict = reply_to(script, request), reply_to(script, request, strict_model=True)
    assert (lenient.status, lenient.notes[-1]) == ("truncated", "model_mismatch")
    assert (strict.status, strict.error_class) == ("error", "model_mismatch")
    assert strict.text == lenient.text
