from __future__ import annotations

import select
from collections.abc import Callable

import pytest

from tests.kit.fake_macos import FakeMac
from touchstone.host.thermal import FRESH_S, ThermalStream


def feed_until(stream: ThermalStream, holds: Callable[[], bool], now: float) -> None:
    """Feed whatever comes, all of it at the moment `now`."""
    for _ in range(100):
        if holds():
            return
        assert stream.descriptor is not None
        assert select.select([stream.descriptor], [], [], 20)[0]
        stream.feed(now)
    pytest.fail("it never held")


def test_the_level_is_the_last_one_told(mac: FakeMac) -> None:
    with ThermalStream("darwin") as stream:
        assert not stream.is_settled
        assert stream.word(10.0) is None
        feed_until(stream, lambda: stream.is_settled, now=10.0)
        assert stream.word(10.0) == "nominal"
        mac.heat("Trapping")
        feed_until(stream, lambda: stream.word(11.0) == "trapping", now=11.0)


def test_a_stream_gone_silent_says_nothing_any_more(mac: FakeMac) -> None:
    with ThermalStream("darwin") as stream:
        feed_until(stream, lambda: stream.is_settled, now=10.0)
        assert stream.word(10.0 + FRESH_S) == "nominal"
        assert stream.word(10.1 + FRESH_S) is None


def test_a_stream_that_ended_is_started_anew(mac: FakeMac) -> None:
    mac.limit_samples(1)
    with ThermalStream("darwin") as stream:
        feed_until(stream, lambda: stream.is_settled, now=10.0)
        feed_until(stream, lambda: stream.word(20.0) is not None, now=20.0)
        assert stream.refusal is None


@pytest.mark.parametrize("system", ["linux", "freebsd14"])
def test_elsewhere_there_is_no_stream(system: str) -> None:
    with ThermalStream(system) as stream:
        assert (stream.descriptor, stream.refusal, stream.word(0.0)) == (
            None,
            "no source on this system",
            None,
        )


def test_a_refusal_is_told_and_the_stream_is_over(mac: FakeMac) -> None:
    mac.deny_sudo()
    with ThermalStream("darwin") as stream:
        feed_until(stream, lambda: stream.is_settled, now=10.0)
        assert stream.refusal == "sudo asks for a password"
        assert stream.descriptor is None
        stream.feed(11.0)
        assert stream.word(11.0) is None
