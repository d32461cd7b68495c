"""Generators that ask: every one is answered, whatever mixture of them asks nothing."""

from __future__ import annotations

import threading
from collections.abc import Generator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.engine.reply import ChatRequest, Reply
from touchstone.judge.asking import answered

REQUEST = ChatRequest(model="judge", messages=())


def asking(number: int, calls: int) -> Generator[ChatRequest, Reply, int]:
    """Ask so many times, then give the number."""
    for _ in range(calls):
        yield REQUEST
    return number


def ask(_request: ChatRequest) -> Reply:
    return Reply(status="ok", text="")


@pytest.mark.parametrize("concurrency", [1, 2, 8])
@pytest.mark.parametrize("silent", [1, 4, 5, 16, 17, 100])
def test_any_number_that_ask_nothing_may_stand_before_one_that_asks(concurrency: int, silent: int) -> None:
    calls = [0] * silent + [1] + [0] * silent + [2, 1]
    found = answered(map(asking, range(len(calls)), calls), ask, concurrency, lambda: False)
    assert sorted(found) == list(range(len(calls)))


@given(st.lists(st.integers(0, 2), max_size=60), st.integers(1, 4))
def test_every_mixture_is_answered_once(calls: list[int], concurrency: int) -> None:
    found = answered(map(asking, range(len(calls)), calls), ask, concurrency, lambda: False)
    assert sorted(found) == list(range(len(calls)))


@pytest.mark.parametrize("concurrency", [1, 4])
def test_told_to_stop_it_stops_among_those_that_ask_nothing_too(concurrency: int) -> None:
    told = threading.Event()
    taken = []
    for number in answered(map(asking, range(1000), [0] * 1000), ask, concurrency, told.is_set):
        taken.append(number)
        if number == 10:
            told.set()
    assert taken == list(range(11))
