"""Where a model server listens, read from what a person wrote as its base URL."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from touchstone.errors import BadInputError, EngineError

_EXAMPLE = "write it like http://127.0.0.1:1234/v1"
_VERSION_SEGMENT = re.compile(r"/v\d+[a-z0-9]*$")
_ROUTES = ("/chat/completions", "/completions", "/models")


@dataclass(frozen=True, slots=True)
class Address:
    """A server's place. `root` is the path before the version segment, `api` the path with it."""

    scheme: str
    host: str
    port: int
    root: str
    api: str

    @property
    def authority(self) -> str:
        """host:port as an HTTP Host header carries it; the port only where it is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _usual_port(self.scheme) else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """scheme://host:port."""
        return f"{self.scheme}://{self.authority}"

    @property
    def is_loopback(self) -> bool:
        """Whether the server can only be on this machine."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            address = ipaddress.ip_address(self.host.partition("%")[0])
        except ValueError:
            return False
        return address.is_loopback or address.is_unspecified


def address_of(base_url: str | None) -> Address:
    """The address in a base URL, given with or without a final slash and with or without `/v1`.

    Raises `EngineError` when none is configured and `BadInputError` when it cannot be one.
    """
    if base_url is None or not base_url.strip():
        raise EngineError(
            "no model server is configured",
            "give --base-url http://127.0.0.1:1234/v1, or set endpoint.base_url in touchstone.yaml",
        )
    parts = _parts(base_url.strip())
    path = _api_path(parts.path)
    return Address(
        scheme=parts.scheme,
        host=(parts.hostname or "").lower(),
        port=parts.port or _usual_port(parts.scheme),
        root=_VERSION_SEGMENT.sub("", path),
        api=path,
    )


def _parts(url: str) -> SplitResult:
    if not url.isprintable() or " " in url:
        raise _nonsense(url, "it contains spaces or control characters")
    try:
        parts = urlsplit(url)
        port = parts.port
        (parts.hostname or "").encode("idna")
    except ValueError as error:
        raise _nonsense(url, str(error)) from None
    if parts.scheme not in ("http", "https"):
        raise _nonsense(url, "it does not begin with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise BadInputError(
            "base_url carries a user name or password",
            "name the environment variable that holds the key in endpoint.api_key_env instead",
        )
    if not parts.hostname or port == 0:
        raise _nonsense(url, "it names no host" if not parts.hostname else "0 is no port")
    if parts.query or parts.fragment:
        raise _nonsense(parts.netloc + parts.path, "it carries a query or fragment")
    return parts


def _api_path(path: str) -> str:
    path = re.sub(r"/{2,}", "/", path).rstrip("/")
    for route in _ROUTES:
        path = path.removesuffix(route)
    return path if _VERSION_SEGMENT.search(path) else f"{path}/v1"


def _usual_port(scheme: str) -> int:
    return 443 if scheme == "https" else 80


def _nonsense(url: str, why: str) -> BadInputError:
    return BadInputError(f"base_url {url!r} is not the address of a server: {why}", _EXAMPLE)
