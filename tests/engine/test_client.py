"""The client against a real local server: what it sends, what it refuses, when it gives up."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from pathlib import Path

import pytest

from tests.engine.asking import HELLO, asked, endpoint, reply_to
from tests.kit.chat_server import ChatServer, Script, answer, chunk, event, whole
from touchstone.config import Endpoint
from touchstone.engine.client import ChatClient, body_of
from touchstone.engine.reply import ChatRequest, Reply
from touchstone.errors import BadInputError, EngineError, ExitCode

KEY = "sk-test-0123456789"


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def test_only_what_is_set_is_sent() -> None:
    with ChatServer() as server, ChatClient(endpoint(server.base_url)) as client:
        client.ask(HELLO)
        full = ChatRequest(
            "m", HELLO.messages, 0.0, 7, 0.9, 50, {"type": "json_object"}, {"cache_prompt": False, "seed": 8}
        )
        client.ask(full)
        bare, rich = (asked.body for asked in server.chats)
    assert bare == {
        "model": "local-test",
        "messages": [{"role": "user", "content": "Say hello."}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert (rich["temperature"], rich["seed"], rich["top_p"], rich["max_tokens"]) == (0.0, 8, 0.9, 50)
    assert rich["response_format"] == {"type": "json_object"}
    assert rich["cache_prompt"] is False


def test_a_prompt_with_a_lone_surrogate_can_be_sent() -> None:
    assert reply_to(answer("ok"), ChatRequest("m", ({"role": "user", "content": "a\ud83d"},))).status == "ok"


def test_a_cap_in_extra_body_is_a_cap() -> None:
    request = ChatRequest("local-test", HELLO.messages, extra_body={"max_completion_tokens": 2})
    assert body_of(request)["max_completion_tokens"] == 2
    assert reply_to(answer("one two"), request).status == "truncated"


@pytest.mark.parametrize("form", ["{url}", "{url}/", "{url}/v1", "{url}/v1/"])
def test_every_way_to_write_the_base_url(form: str) -> None:
    with ChatServer() as server, ChatClient(endpoint(form.format(url=server.url))) as client:
        assert client.ask(HELLO).status == "ok"
        assert client.models() == ["local-test"]
        assert [one.path for one in server.requests] == ["/v1/chat/completions", "/v1/models"]


def test_connections_are_kept() -> None:
    with ChatServer() as server, ChatClient(endpoint(server.base_url)) as client:
        for _ in range(5):
            assert client.ask(HELLO).status == "ok"
        assert client.models()
        server.script = whole({"choices": [{"message": {"content": "Hi"}}]})
        assert [client.ask(HELLO).text for _ in range(3)] == ["Hi"] * 3
        assert server.connections == 1


def test_a_server_that_closes_after_each_answer() -> None:
    body = whole({"choices": [{"message": {"content": "Hi"}}]})
    closing = Script(body.chunks, headers=body.headers, framing="length", ending="cut")
    with ChatServer(closing) as server, ChatClient(endpoint(server.base_url)) as client:
        for _ in range(5):
            reply = client.ask(HELLO)
            assert (reply.status, reply.text, reply.attempts) == ("ok", "Hi", 1)
        assert server.connections == 5


def test_a_kept_connection_given_up_in_this_moment_costs_no_try() -> None:
    with (
        ChatServer([answer("one"), Script(status=0), answer("two")]) as server,
        ChatClient(endpoint(server.base_url, retries=0)) as client,
    ):
        assert client.ask(HELLO).text == "one"
        assert client.ask(HELLO).text == "two"
        assert len(server.chats) == 3


def test_threads_share_the_client() -> None:
    with (
        ChatServer(lambda body: answer(body["messages"][0]["content"]), service_s=0.01) as server,
        ChatClient(endpoint(server.base_url)) as client,
        ThreadPoolExecutor(8) as pool,
    ):
        requests = [ChatRequest("local-test", ({"role": "user", "content": f"say {n}"},)) for n in range(160)]
        replies = list(pool.map(client.ask, requests))
        assert [reply.text for reply in replies] == [f"say {n}" for n in range(160)]
        assert 4 <= server.most_in_flight <= 8
        assert server.connections <= 8


def test_a_refused_connection_is_tried_four_times() -> None:
    pauses: list[float] = []
    with ChatClient(endpoint(f"http://127.0.0.1:{free_port()}"), sleep=pauses.append) as client:
        reply = client.ask(HELLO)
        assert (reply.status, reply.error_class, reply.attempts) == ("error", "transport", 4)
        assert "Connection refused" in (reply.error_message or "")
        assert pauses == [1, 2, 4]
        with pytest.raises(EngineError, match="Connection refused") as refused:
            client.models()
    assert refused.value.exit_code == ExitCode.NOT_JUDGED
    assert refused.value.hint


def test_a_name_without_an_address_is_an_error_reply() -> None:
    with ChatClient(endpoint("http://no-such-host.invalid/v1", retries=0)) as client:
        assert client.ask(HELLO).error_class == "transport"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 500, 501])
def test_other_statuses_are_final(status: int) -> None:
    reply, pauses = asked(whole({"error": "no"}, status))
    assert (reply.status, reply.error_class, reply.attempts, pauses) == ("error", "http", 1, [])


@pytest.mark.parametrize("status", [408, 429, 502, 503, 504])
def test_passing_statuses_are_retried(status: int) -> None:
    reply, pauses = asked(whole({"error": "busy"}, status), retries=2)
    assert (reply.status, reply.error_class, reply.attempts, pauses) == ("error", "http", 3, [1, 2])


def test_retry_after_may_be_a_date_and_never_waits_longer_than_a_minute() -> None:
    soon = ("Retry-After", formatdate(time.time() + 30, usegmt=True))
    past = ("Retry-After", formatdate(time.time() - 30, usegmt=True))
    late = ("Retry-After", "86400")
    odd = ("Retry-After", "in a while")
    busy = [whole({"error": "busy"}, 429, [header]) for header in (soon, late, past, odd)]
    _, pauses = asked([*busy, answer("fine")], retries=4)
    assert 27 < pauses[0] <= 30
    assert pauses[1:] == [60, 0, 8]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed_so_no_key_leaves_the_host(status: int) -> None:
    with ChatServer() as other, ChatServer() as server:
        place = (("Location", f"{other.base_url}/chat/completions?key=hidden"),)
        server.script = whole({}, status, place)
        with ChatClient(endpoint(server.base_url), KEY) as client:
            reply = client.ask(HELLO)
        assert other.requests == []
        assert other.connections == 0
        assert len(server.requests) == 1
    assert (reply.status, reply.error_class, reply.attempts) == ("error", "http", 1)
    assert f"redirected to http://127.0.0.1:{other.port}/v1/chat/completions;" in (reply.error_message or "")
    assert "hidden" not in (reply.error_message or "")


def test_the_key_is_sent_and_appears_in_no_error() -> None:
    with (
        ChatServer(whole({"error": f"bad key {KEY}"}, 401)) as server,
        ChatClient(endpoint(server.base_url), f" {KEY}\n") as client,
    ):
        server.routes["/v1/models"] = whole({"error": f"bad key {KEY}"}, 401)
        reply = client.ask(HELLO)
        with pytest.raises(EngineError) as refused:
            client.models()
        assert server.chats[0].headers["Authorization"] == f"Bearer {KEY}"
    assert reply.error_message == "HTTP 401: bad key [key removed]"
    assert KEY not in str(refused.value)


def test_a_key_echoed_in_the_answer_is_removed_and_noted() -> None:
    chunks = answer(f"You sent Bearer {KEY} to me").chunks
    with ChatServer(Script(chunks)) as server, ChatClient(endpoint(server.base_url), KEY) as client:
        reply = client.ask(HELLO)
    assert (reply.status, reply.text) == ("ok", "You sent Bearer [key removed] to me")
    assert "key_removed" in reply.notes


@pytest.mark.parametrize("field", ["model", "system_fingerprint"])
def test_a_key_echoed_beside_the_answer_is_removed_too(field: str) -> None:
    key = "a-key-of-no-known-form"
    body = {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}], field: f"x {key}"}
    with ChatServer(whole(body)) as server, ChatClient(endpoint(server.base_url), key) as client:
        reply = client.ask(HELLO)
    assert reply.text == "Hi"
    assert key not in repr(reply)
    assert "key_removed" in reply.notes


def test_a_key_too_short_to_be_told_from_words_leaves_the_answer_alone() -> None:
    with (
        ChatServer(answer("Hello big world")) as server,
        ChatClient(endpoint(server.base_url), "big") as client,
    ):
        reply = client.ask(HELLO)
    assert (reply.text, "key_removed" in reply.notes) == ("Hello big world", False)


def test_a_redirects_place_shows_no_account() -> None:
    place = (("Location", "http://someone:hidden@[::1]:8080/v1"),)
    message = reply_to(whole({}, 302, place)).error_message or ""
    assert "redirected to http://[::1]:8080/v1;" in message


def test_without_a_key_no_authorization_is_sent() -> None:
    with ChatServer() as server, ChatClient(endpoint(server.base_url), " ") as client:
        client.ask(HELLO)
        assert "Authorization" not in server.chats[0].headers


@pytest.mark.parametrize("key", ["a\r\nX-Evil: 1", "a b", "schlüssel", "a\x00b"])
def test_a_key_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(BadInputError) as refused:
        ChatClient(Endpoint(base_url="http://127.0.0.1:1"), key)
    assert key not in str(refused.value)


def test_the_environments_proxy_is_not_used_unless_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer() as proxy, ChatServer() as server:
        _set_proxy(monkeypatch, proxy.url)
        for trusted in (False, True):  # and never for loopback
            with ChatClient(endpoint(server.base_url, trust_env=trusted)) as client:
                assert client.ask(HELLO).status == "ok"
        with ChatClient(endpoint("http://models.invalid/v1", retries=0)) as client:
            assert client.ask(HELLO).error_class == "transport"
        assert proxy.connections == 0


def test_a_trusted_proxy_carries_requests_to_other_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer() as proxy:
        _set_proxy(monkeypatch, proxy.url.replace("//", "//ada:pw%20x@"))
        with ChatClient(endpoint("http://models.invalid/v1", trust_env=True)) as client:
            assert client.ask(HELLO).status == "ok"
        with ChatClient(endpoint("https://models.invalid/v1", trust_env=True, retries=0)) as client:
            assert "refused the tunnel" in (client.ask(HELLO).error_message or "")
        (carried,) = proxy.chats
    assert carried.path == "http://models.invalid/v1/chat/completions"
    assert carried.headers["Host"] == "models.invalid"
    assert carried.headers["Proxy-Authorization"] == "Basic YWRhOnB3IHg="


def _set_proxy(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    for name in ("no_proxy", "NO_PROXY", "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, url)


@pytest.mark.parametrize(
    "script",
    [
        Script(ending="hang", delays=()),
        Script([event(chunk({"content": "Hel"}))], ending="hang"),
        Script([b": wait\n\n"] * 500, delays=(0.05,)),
    ],
    ids=["before the first byte", "in the middle", "between comments"],
)
def test_a_stop_is_felt_at_once(script: Script) -> None:
    stop = threading.Event()
    with ChatServer(script) as server, ChatClient(endpoint(server.base_url), stop=stop) as client:
        threading.Timer(0.2, stop.set).start()
        began = time.monotonic()
        reply = client.ask(HELLO)
        assert time.monotonic() - began < 1.5
    assert (reply.status, reply.error_message, reply.notes[-1]) == ("error", "stopped", "stopped")


def test_a_stop_ends_the_pause_between_tries_and_the_tries() -> None:
    stop = threading.Event()
    with ChatServer(whole({"error": "busy"}, 503)) as server:
        with ChatClient(endpoint(server.base_url), stop=stop) as client:
            threading.Timer(0.2, stop.set).start()
            began = time.monotonic()
            assert client.ask(HELLO).notes == ("stopped",)
            assert time.monotonic() - began < 0.95
            assert client.ask(HELLO).notes == ("stopped",)
        assert len(server.chats) == 1


def test_an_answer_of_five_megabytes() -> None:
    text = "0123456789abcdef" * (5 * 2**16)
    assert reply_to(answer(text, pieces=1)).text == text
    assert reply_to(answer(text, pieces=5000)).text == text
    assert reply_to(whole({"choices": [{"message": {"content": text}}]})).text == text


def test_ten_thousand_tokens() -> None:
    reply = reply_to(answer("ab " * 10_000, pieces=10_000))
    assert (len(reply.text), reply.completion_tokens) == (30_000, 10_000)


def test_a_body_cut_before_its_length_is_connection_trouble() -> None:
    body = whole({"choices": [{"message": {"content": "Hi"}}]})
    headers = (*body.headers, ("Content-Length", "999"))
    reply, _ = asked(Script(body.chunks, headers=headers, framing="close"), retries=0)
    assert (reply.status, reply.text) == ("ok", "Hi")  # the JSON is whole: nothing of the answer is missing
    cut = Script([body.chunks[0][:-3]], headers=headers, framing="close")
    reply, pauses = asked(cut, retries=1)
    assert (reply.status, reply.error_class, pauses) == ("error", "transport", [1])


def test_a_list_cut_before_its_length_is_connection_trouble() -> None:
    headers = (("Content-Type", "application/json"), ("Content-Length", "999"))
    cut = Script([b'{"data": [{"id": "a"'], headers=headers, framing="close")
    with ChatServer() as server, ChatClient(endpoint(server.base_url, retries=0)) as client:
        server.routes["/v1/models"] = cut
        with pytest.raises(EngineError, match="in the middle"):
            client.models()


def test_a_compressed_answer_nobody_asked_for_is_named() -> None:
    reply = reply_to(Script([b"\x1f\x8b"], headers=(("Content-Encoding", "gzip"),)))
    assert (reply.status, reply.error_class) == ("error", "http")
    assert "gzip" in (reply.error_message or "")


def test_a_server_that_keeps_the_stream_open_after_done() -> None:
    with (
        ChatServer([Script(answer("Hi").chunks, ending="hang"), answer("next")]) as server,
        ChatClient(endpoint(server.base_url)) as client,
    ):
        began = time.monotonic()
        reply = client.ask(HELLO)
        assert (reply.status, reply.text) == ("ok", "Hi")
        assert client.ask(HELLO).text == "next"
        assert time.monotonic() - began < 1.5
        assert server.connections == 2


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("raw", "error_class"),
    [
        (b"", "transport"),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "transport"),
        (b"HTTP/1.1 banana OK\r\n\r\n", "transport"),
        (OK, "empty_stream"),
        (OK + b"X: " + b"y" * 70_000 + b"\r\n\r\n", "transport"),
        (OK + b"X: y\r\n" * 200 + b"\r\n", "transport"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "transport"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nff\r\ndata: {", "transport"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\ndata: {", "transport"),
        (OK + b"Content-Length: 100\r\n\r\ndata: {", "transport"),
        (OK + b"Content-Length: many\r\n\r\n", "empty_stream"),
        (OK + b"\r\n<html>log in</html>", "empty_stream"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "empty_stream"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\n\r\n", "http"),
    ],
)
def test_odd_http_is_an_error_reply(raw: bytes, error_class: str) -> None:
    reply = _reply_to_bytes(raw)
    assert (reply.status, reply.error_class) == ("error", error_class)
    assert reply.error_message


def test_an_interim_response_is_passed_over() -> None:
    rest = OK + b"\r\n" + b"".join(answer("Hi").chunks)
    assert _reply_to_bytes(b"HTTP/1.1 100 Continue\r\n\r\n" + rest).text == "Hi"


def _reply_to_bytes(raw: bytes) -> Reply:
    """The reply to a server that sends these bytes and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_send_once, args=(listener, raw))
        thread.start()
        with ChatClient(endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}", retries=0)) as client:
            reply = client.ask(HELLO)
        thread.join()
    return reply


def _send_once(listener: socket.socket, raw: bytes) -> None:
    connection, _ = listener.accept()
    with connection:
        request = b""
        while not request.endswith(b"}"):  # closing on unread bytes would reset the connection
            request += connection.recv(65536)
        connection.sendall(raw)


def test_time_is_measured_from_sending() -> None:
    before = time.time()
    reply = reply_to(answer("Hello big world", delays=(0.1, 0.05)))
    assert reply.ttft_s is not None
    assert 0.14 < reply.ttft_s < 5
    assert reply.e2e_s is not None
    assert reply.e2e_s > reply.ttft_s + 0.15
    assert reply.decode_tps is not None
    assert 0.5 < reply.decode_tps < 20.5
    assert reply.t_start is not None
    assert before <= reply.t_start <= time.time()
    assert reply.t_end == pytest.approx(reply.t_start + reply.e2e_s)


def test_models_lists_ids_and_waits_while_loading() -> None:
    pauses: list[float] = []
    with (
        ChatServer(models=["a", "b/c"]) as server,
        ChatClient(endpoint(server.base_url), sleep=pauses.append) as client,
    ):
        assert client.models() == ["a", "b/c"]
        server.routes["/v1/models"] = [
            whole({"error": {"message": "Loading model"}}, 503),
            whole([{"id": "d"}]),
        ]
        assert client.models() == ["d"]
    assert pauses == [1]


@pytest.mark.parametrize("body", [{"hello": 1}, "text", {"data": "x"}, {"error": "not here"}])
def test_a_list_in_no_known_form_is_an_engine_error(body: object) -> None:
    with ChatServer() as server, ChatClient(endpoint(server.base_url, retries=0)) as client:
        server.routes["/v1/models"] = whole(body)
        with pytest.raises(EngineError):
            client.models()


def test_a_list_without_a_byte_names_no_model_and_is_no_fault() -> None:
    with ChatServer() as server, ChatClient(endpoint(server.base_url, retries=0)) as client:
        server.routes["/v1/models"] = Script(headers=(("Content-Type", "application/json"),), framing="close")
        assert client.models() == []


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
def test_https_is_verified_and_a_bad_certificate_is_final(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = tmp_path / "certificate.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", tmp_path / "key.pem", "-out", certificate),
        ],
        check=True,
        capture_output=True,
    )
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, tmp_path / "key.pem")
    with ChatServer(tls=tls) as server:
        url = f"https://localhost:{server.port}/v1"
        pauses: list[float] = []
        with ChatClient(endpoint(url), sleep=pauses.append) as client:
            refused = client.ask(HELLO)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with ChatClient(endpoint(url)) as client:
            trusted = [client.ask(HELLO) for _ in range(3)]
        assert server.connections <= 3
    assert (refused.error_class, refused.attempts, pauses) == ("transport", 1, [])
    assert "certificate" in (refused.error_message or "").lower()
    assert [reply.text for reply in trusted] == ["ok", "ok", "ok"]
