"""Base URLs as people write them."""

from __future__ import annotations

import pytest

from touchstone.engine.address import address_of
from touchstone.errors import BadInputError, EngineError, ExitCode


@pytest.mark.parametrize(
    ("written", "origin", "root", "api"),
    [
        ("http://127.0.0.1:1234/v1", "http://127.0.0.1:1234", "", "/v1"),
        ("http://127.0.0.1:1234/v1/", "http://127.0.0.1:1234", "", "/v1"),
        ("http://127.0.0.1:1234", "http://127.0.0.1:1234", "", "/v1"),
        ("http://127.0.0.1:1234/", "http://127.0.0.1:1234", "", "/v1"),
        (" http://LocalHost:8080// ", "http://localhost:8080", "", "/v1"),
        ("https://models.example/llm/v1", "https://models.example", "/llm", "/llm/v1"),
        ("https://models.example:443/llm", "https://models.example", "/llm", "/llm/v1"),
        ("https://models.example/api/paas/v4", "https://models.example", "/api/paas", "/api/paas/v4"),
        ("http://[::1]:8080/v1", "http://[::1]:8080", "", "/v1"),
        ("http://mac.local:80/v1/chat/completions", "http://mac.local", "", "/v1"),
    ],
)
def test_with_and_without_slash_and_version(written: str, origin: str, root: str, api: str) -> None:
    address = address_of(written)
    assert (address.origin, address.root, address.api) == (origin, root, api)


@pytest.mark.parametrize(
    "nonsense",
    [
        "localhost:1234",
        "ftp://localhost/v1",
        "http://",
        "http:///v1",
        "http://host:99999/v1",
        "http://host:0/v1",
        "http://host:abc/v1",
        "http://ho st/v1",
        "http://host/v1\n",
        "http://host/v1\r\nX-Evil: 1",
        "http://host/v1?key=abc",
        "http://host/v1#x",
        "http://user:pw@host/v1",
        "http://user@host/v1",
        "http://[::1/v1",
        f"http://{'a' * 70}.example/v1",
        "1234",
    ],
)
def test_nonsense_is_refused(nonsense: str) -> None:
    if nonsense.endswith("\n"):
        assert address_of(nonsense).api == "/v1"  # a final line break is no part of it
        return
    with pytest.raises(BadInputError) as refused:
        address_of(nonsense)
    assert refused.value.hint
    assert "pw" not in str(refused.value)
    assert "abc" not in str(refused.value) or "port" in str(refused.value).lower()


@pytest.mark.parametrize("missing", [None, "", "  "])
def test_no_endpoint_says_what_to_do(missing: str | None) -> None:
    with pytest.raises(EngineError) as refused:
        address_of(missing)
    assert refused.value.exit_code == ExitCode.NOT_JUDGED
    assert "--base-url" in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://localhost:1", True),
        ("http://models.localhost:1", True),
        ("http://127.3.2.1:1", True),
        ("http://0.0.0.0:1", True),
        ("http://[::1]:1", True),
        ("http://192.168.0.7:1", False),
        ("http://localhost.example:1", False),
        ("http://mac.local:1", False),
    ],
)
def test_loopback(url: str, loopback: bool) -> None:
    assert address_of(url).is_loopback is loopback
