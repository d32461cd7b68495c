"""HTTP to one server: kept connections, exact time limits, and a stop that is felt while waiting.

Built on the standard library's `http.client` because a read can then be bounded by three limits at once
and left within a quarter of a second; it also costs a quarter of the CPU time of a general client.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import io
import os
import select
import selectors
import socket
import ssl
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self
from urllib.parse import SplitResult, unquote, urlsplit

from touchstone.engine.address import Address

TICK_S = 0.25
CONNECT_S = 10.0
READ_BYTES = 65536
_LONGEST_ERROR = 65536

LimitName = Literal["load", "idle", "total"]


class LimitReached(Exception):  # noqa: N818 - a limit is no error
    """One of the three time limits was reached; `name` says which, `seconds` how long it was."""

    def __init__(self, name: LimitName, seconds: float) -> None:
        super().__init__(f"{name} limit of {seconds:g} s reached")
        self.name = name
        self.seconds = seconds


class Stopped(Exception):  # noqa: N818 - asked for, no error
    """Somebody asked to stop while a request was waiting."""


@dataclass
class Watch:
    """What bounds one request. `load_s` counts until the first byte of the body, `idle_s` between bytes
    after that, `total_s` from sending to the end."""

    load_s: float
    idle_s: float
    total_s: float
    stop: threading.Event | None = None
    began: float = field(default_factory=time.monotonic)
    loading: bool = True
    _heard: float = 0.0

    def restart(self) -> None:
        """The request is sent now."""
        self.began = time.monotonic()

    def heard(self) -> None:
        """The server gave a sign of life."""
        self._heard = time.monotonic()

    def body_began(self) -> None:
        """The first byte of the body is there: the model is loaded."""
        self.loading = False

    def patience(self) -> float:
        """Seconds to wait before asking again. Raises `LimitReached` or `Stopped` when there are none."""
        if self.stop is not None and self.stop.is_set():
            raise Stopped
        now = time.monotonic()
        left = self.began + self.total_s - now
        if left <= 0:
            raise LimitReached("total", self.total_s)
        part = self.began + self.load_s - now if self.loading else self._heard + self.idle_s - now
        if part <= 0:
            raise LimitReached("load", self.load_s) if self.loading else LimitReached("idle", self.idle_s)
        return min(TICK_S, left, part)


class Exchange:
    """One request and its response while it is read."""

    def __init__(self, line: _Line, response: http.client.HTTPResponse) -> None:
        self._line = line
        self._response = response
        self.sent_at = line.sent_at
        self.status = response.status

    def header(self, name: str) -> str | None:
        """A response header's value."""
        return self._response.headers.get(name)

    def read(self) -> bytes:
        """The next bytes of the body; empty at its end."""
        data = self._response.read1(READ_BYTES)
        if data:
            self._line.watch.body_began()
        elif self._response.length:
            raise http.client.IncompleteRead(b"", self._response.length)
        return data

    def read_all(self, at_most: int = _LONGEST_ERROR) -> bytes:
        """The body, or as much of it as `at_most` allows."""
        data = bytearray()
        while len(data) < at_most and (more := self.read()):
            data += more
        return bytes(data[:at_most])

    def settle(self, within_s: float = 0.1) -> None:
        """Reads the end mark of a body that is complete, so that the connection can be used again."""
        watch = self._line.watch
        watch.total_s = time.monotonic() - watch.began + within_s
        with contextlib.suppress(LimitReached, OSError, http.client.HTTPException):
            while self._response.read1(READ_BYTES):
                pass

    @property
    def is_complete(self) -> bool:
        """Whether the body was read to its end."""
        return self._response.isclosed() or self._response.length == 0


class Wire:
    """The connections to one server. Safe to use from several threads."""

    def __init__(self, address: Address, *, trust_env: bool = False) -> None:
        self._address = address
        self._proxy = _proxy_for(address) if trust_env else None
        self._context = ssl.create_default_context() if address.scheme == "https" else None
        self._idle: list[_Line] = []
        self._closed = False

    @contextlib.contextmanager
    def request(
        self, method: str, path: str, watch: Watch, headers: Mapping[str, str], body: bytes | None = None
    ) -> Iterator[Exchange]:
        """Sends a request and gives the response as soon as its headers are there.

        Raises `OSError` or `http.client.HTTPException` on connection trouble, `LimitReached`, `Stopped`.
        """
        line, response = self._sent(method, path, watch, headers, body)
        exchange = Exchange(line, response)
        kept = False
        try:
            yield exchange
            kept = exchange.is_complete and not response.will_close
        finally:
            response.close()
            if kept and not self._closed:
                self._idle.append(line)
            else:
                line.close()

    def close(self) -> None:
        """Closes what is not in use; a request under way closes its own."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def _sent(
        self, method: str, path: str, watch: Watch, headers: Mapping[str, str], body: bytes | None
    ) -> tuple[_Line, http.client.HTTPResponse]:
        line = self._kept_line()
        if line is not None:
            try:
                return line, line.ask(method, path, watch, headers, body)
            except (ConnectionError, http.client.BadStatusLine):
                pass  # the server gave up the kept connection in this very moment: use a fresh one
        line = _Line(self._address, self._proxy, self._context)
        return line, line.ask(method, path, watch, headers, body)

    def _kept_line(self) -> _Line | None:
        while self._idle:
            with contextlib.suppress(IndexError):  # another thread took it
                line = self._idle.pop()
                if line.is_quiet():
                    return line
                line.close()
        return None


class _Line(http.client.HTTPConnection):
    """One connection, watched."""

    def __init__(self, address: Address, proxy: SplitResult | None, context: ssl.SSLContext | None) -> None:
        super().__init__(address.host, address.port)
        self._address = address
        self._proxy = proxy
        self._context = context
        self.watch = Watch(0, 0, 0)
        self.sent_at = 0.0

    def ask(
        self, method: str, path: str, watch: Watch, headers: Mapping[str, str], body: bytes | None
    ) -> http.client.HTTPResponse:
        self.watch = watch
        try:
            if self.sock is None:
                watch.restart()
                self.connect()
            watch.restart()
            self.sent_at = time.time()
            target, extra = self._target(path)
            self.request(method, target, body, {"Host": self._address.authority, **headers, **extra})
            return self.getresponse()
        except BaseException:
            self.close()
            raise

    def connect(self) -> None:
        proxy = self._proxy
        where = (proxy.hostname or "", proxy.port or 80) if proxy else (self.host, self.port)
        sock = _dial(where, self.watch)
        try:
            if self._context is not None:
                if proxy:
                    self._tunnel_through(sock, proxy)
                sock.settimeout(CONNECT_S)
                sock = self._context.wrap_socket(sock, server_hostname=self.host)
        except BaseException:
            sock.close()
            raise
        self.sock = _WatchedSocket(sock, self)

    def is_quiet(self) -> bool:
        """Whether the kept connection is still open and nothing unasked came over it."""
        if self.sock is None:
            return False
        poll = select.poll()
        poll.register(self.sock.fileno(), select.POLLIN)
        return not poll.poll(0)

    def _target(self, path: str) -> tuple[str, dict[str, str]]:
        if self._proxy is None or self._context is not None:
            return path, {}
        return self._address.origin + path, _proxy_headers(self._proxy)

    def _tunnel_through(self, sock: socket.socket, proxy: SplitResult) -> None:
        goal = f"{self._address.host}:{self._address.port}"
        lines = [f"CONNECT {goal} HTTP/1.1", f"Host: {goal}"]
        lines += [f"{name}: {value}" for name, value in _proxy_headers(proxy).items()]
        sock.settimeout(CONNECT_S)
        sock.sendall("\r\n".join((*lines, "", "")).encode("latin-1"))
        with http.client.HTTPResponse(sock, method="CONNECT") as response:
            response.begin()
            if response.status != 200:
                raise ConnectionError(f"the proxy refused the tunnel with HTTP {response.status}")


class _WatchedSocket:
    """What `http.client` needs of a socket; every wait obeys the line's watch."""

    def __init__(self, sock: socket.socket, line: _Line) -> None:
        self._sock = sock
        self._line = line
        self._readers = 0
        self._closing = False

    def fileno(self) -> int:
        return self._sock.fileno()

    def sendall(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            self._sock.settimeout(self._line.watch.patience())
            with contextlib.suppress(TimeoutError):
                view = view[self._sock.send(view) :]

    def receive_into(self, buffer: Any) -> int:
        watch = self._line.watch
        while True:
            self._sock.settimeout(watch.patience())
            with contextlib.suppress(TimeoutError):
                count = self._sock.recv_into(buffer)
                watch.heard()
                return count

    def makefile(self, mode: str) -> io.BufferedReader:
        del mode  # http.client only reads through it
        self._readers += 1
        return io.BufferedReader(_WatchedReader(self), READ_BYTES)

    def reader_closed(self) -> None:
        self._readers -= 1
        if self._closing and not self._readers:
            self._sock.close()

    def close(self) -> None:
        """Closes once the response that is still being read is closed too, as sockets do."""
        self._closing = True
        if not self._readers:
            self._sock.close()


class _WatchedReader(io.RawIOBase):
    def __init__(self, sock: _WatchedSocket) -> None:
        self._sock = sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._sock.receive_into(buffer)

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._sock.reader_closed()

    def __enter__(self) -> Self:
        return self


def _dial(where: tuple[str, int], watch: Watch) -> socket.socket:
    trouble: OSError = ConnectionError(f"{where[0]} has no address")
    for family, kind, protocol, _, target in socket.getaddrinfo(*where, type=socket.SOCK_STREAM):
        sock = socket.socket(family, kind, protocol)
        try:
            _connect(sock, target, watch)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
        except OSError as error:
            sock.close()
            trouble = error
        except BaseException:
            sock.close()
            raise
    raise trouble


def _connect(sock: socket.socket, target: Any, watch: Watch) -> None:
    """Connects without blocking, so that a stop is felt."""
    sock.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        sock.connect(target)
        return
    until = time.monotonic() + CONNECT_S
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_WRITE)
        while not selector.select(min(watch.patience(), CONNECT_S)):
            if time.monotonic() > until:
                raise TimeoutError(f"no connection within {CONNECT_S:g} s")
    code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if code:
        raise OSError(code, os.strerror(code))


def proxy_place(address: Address) -> str | None:
    """host:port of the proxy the environment names for an address; None without one."""
    proxy = _proxy_for(address)
    return None if proxy is None else f"{proxy.hostname}:{proxy.port or 80}"


def _proxy_for(address: Address) -> SplitResult | None:
    """The environment's proxy; never for this machine itself."""
    if address.is_loopback or urllib.request.proxy_bypass(address.host):
        return None
    proxy = urllib.request.getproxies().get(address.scheme)
    if not proxy:
        return None
    return urlsplit(proxy if "://" in proxy else f"http://{proxy}")


def _proxy_headers(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    account = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": "Basic " + base64.b64encode(account.encode()).decode()}
