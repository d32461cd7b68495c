"""Which start of the engine answered: the identity of the process that listens on its port."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import psutil

_DEFAULT_PORTS = {"http": 80, "https": 443}


def launch_id(base_url: str) -> str | None:
    """`<pid>:<start>` of the listener behind a loopback URL, start in whole seconds since the epoch.

    None for a host that is not this machine, when nothing listens, or when the process belongs to
    someone else and cannot be seen. Whole seconds, because the kernel's idea of its boot time, on which
    a start time rests, moves by fractions.
    """
    port = _loopback_port(base_url)
    if port is None:
        return None
    # Workers inherit the socket of the process that opened it, so the oldest is the engine.
    created, pid = min(_listeners(port), default=(None, None))
    return None if created is None else f"{pid}:{int(created)}"


def _loopback_port(base_url: str) -> int | None:
    try:
        parts = urlsplit(base_url)
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return None
    return port if _is_here(parts.hostname or "") else None


def _is_here(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _listeners(port: int) -> Iterator[tuple[float, int]]:
    import psutil  # noqa: PLC0415 - only a run pays for it

    for process in psutil.process_iter():
        # One by one: asked for the whole system at once, macOS refuses everyone but root.
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied, OSError):
            if port in _ports_of(process):
                yield process.create_time(), process.pid


def _ports_of(process: psutil.Process) -> set[int]:
    return {
        connection.laddr.port
        for connection in process.net_connections(kind="tcp")
        if connection.status == "LISTEN" and _is_here(connection.laddr.ip)
    }
