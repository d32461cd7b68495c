"""Which token git gets for which remote."""

from __future__ import annotations

import pytest

from touchstone.cli.proposal import credential_for
from touchstone.forge import Place
from touchstone.git import Credential

GITHUB = Place("https://github.com", "https://api.github.com", "acme/desk")


@pytest.mark.parametrize(
    ("url", "place", "token", "prefix"),
    [
        ("https://github.com/acme/desk.git", GITHUB, "t", "https://github.com/"),
        ("https://x-access-token:old@github.com/acme/desk", GITHUB, "t", "https://github.com/"),
        (
            "https://ghes.example:8443/acme/desk",
            Place("https://ghes.example:8443", "https://ghes.example:8443/api/v3", "acme/desk"),
            "t",
            "https://ghes.example:8443/",
        ),
        ("https://github.com/acme/desk.git", GITHUB, None, None),
        ("https://github.com/acme/desk.git", None, "t", None),
        ("http://github.com/acme/desk.git", GITHUB, "t", None),
        ("git@github.com:acme/desk.git", GITHUB, "t", None),
        ("https://github.com.evil.example/acme/desk.git", GITHUB, "t", None),
        ("https://github.com@evil.example/acme/desk.git", GITHUB, "t", None),
        ("/srv/git/desk.git", GITHUB, "t", None),
        (None, GITHUB, "t", None),
    ],
)
def test_the_token_is_for_the_forges_own_host_by_https(
    url: str | None, place: Place | None, token: str | None, prefix: str | None
) -> None:
    assert credential_for(url, place, token) == (Credential(prefix, "t") if prefix else None)
