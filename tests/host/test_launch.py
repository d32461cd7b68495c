from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from touchstone.host.launch import launch_id

SERVER = """
import os, socket, sys
server = socket.create_server((sys.argv[1], int(sys.argv[2])), family=int(sys.argv[3]))
if os.fork() == 0:
    sys.stdin.read()
    os._exit(0)
print(server.getsockname()[1], flush=True)
sys.stdin.read()
"""


@contextmanager
def listening(
    host: str = "127.0.0.1", port: int = 0, family: int = socket.AF_INET
) -> Iterator[tuple[int, int]]:
    """(pid, port) of a process that listens, with a worker that inherited its socket."""
    argv = [sys.executable, "-c", SERVER, host, str(port), str(int(family))]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        yield server.pid, int(server.stdout.readline())
        server.communicate()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_listeners_process_is_named(host: str) -> None:
    with listening() as (pid, port):
        seen = launch_id(f"http://{host}:{port}/v1")
        assert seen is not None
        assert seen == launch_id(f"http://{host}:{port}")
        named, started = seen.split(":")
        assert int(named) == pid
        assert int(started) > 1_500_000_000


def test_a_server_on_every_address_counts() -> None:
    with listening("0.0.0.0") as (pid, port):
        assert str(launch_id(f"http://127.0.0.1:{port}")).startswith(f"{pid}:")


def test_a_restart_on_the_same_port_is_another_launch() -> None:
    with listening() as (_, port):
        first = launch_id(f"http://127.0.0.1:{port}")
    with listening(port=port):
        second = launch_id(f"http://127.0.0.1:{port}")
    assert first is not None
    assert second is not None
    assert first != second


def test_an_engine_in_this_very_process_is_seen_while_it_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert str(launch_id(f"http://127.0.0.1:{port}")).startswith(f"{os.getpid()}:")
        client = socket.create_connection(("127.0.0.1", port))
        accepted, _ = server.accept()
    with client, accepted:
        assert launch_id(f"http://127.0.0.1:{port}") is None


def test_a_client_of_the_port_is_not_the_engine() -> None:
    with listening() as (pid, port), socket.create_connection(("127.0.0.1", port)):
        assert str(launch_id(f"http://127.0.0.1:{port}")).startswith(f"{pid}:")


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org:8080",
        "http://192.168.1.9:1234/v1",
        "http://[::1",
        "http://127.0.0.1:99999",
        "",
        "x",
    ],
)
def test_what_is_not_on_this_machine_has_no_launch(url: str) -> None:
    assert launch_id(url) is None
