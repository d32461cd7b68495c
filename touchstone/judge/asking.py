"""Generators that yield requests and are sent replies: answered one after another, or many at once.

Threads do nothing but wait for the server. The generators, and with them parsing and checks, run in the
calling thread.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from touchstone.engine.reply import Ask, ChatRequest, Reply

T = TypeVar("T")
Asking = Generator[ChatRequest, Reply, T]

STOP_LOOK_S = 0.2
"""How often a waiting loop looks whether it was told to stop."""


def answered(
    askings: Iterable[Asking[T]], ask: Ask, concurrency: int, stop: Callable[[], bool]
) -> Iterator[T]:
    """Each generator's result as it is ready, at most `concurrency` requests in flight.

    When told to stop, what is under way is dropped: its reply may be cut, so it is asked again later.
    """
    if concurrency == 1:
        return _in_order(askings, ask, stop)
    return _together(askings, ask, concurrency, stop)


def driven(asking: Asking[T], ask: Ask) -> T:
    """One generator's result."""
    return next(_in_order([asking], ask, lambda: False))


class _Running(Generic[T]):
    """A generator under way: `request` is what it waits for; None once it has its `result`."""

    result: T

    def __init__(self, asking: Asking[T]) -> None:
        self._asking = asking
        self.request: ChatRequest | None = None
        self._go_on(lambda: next(asking))

    def take(self, reply: Reply) -> None:
        """Send the reply to `request`."""
        self._go_on(lambda: self._asking.send(reply))

    def _go_on(self, step: Callable[[], ChatRequest]) -> None:
        try:
            self.request = step()
        except StopIteration as done:
            self.request = None
            self.result = done.value


def _in_order(askings: Iterable[Asking[T]], ask: Ask, stop: Callable[[], bool]) -> Iterator[T]:
    for asking in askings:
        if stop():
            return
        running = _Running(asking)
        while running.request:
            reply = ask(running.request)
            if stop():
                return
            running.take(reply)
        yield running.result


def _together(
    askings: Iterable[Asking[T]], ask: Ask, concurrency: int, stop: Callable[[], bool]
) -> Iterator[T]:
    arrived: SimpleQueue[tuple[_Running[T], Future[Reply]]] = SimpleQueue()
    rest = iter(askings)
    waiting = 0

    def submit(running: _Running[T], request: ChatRequest) -> None:
        pool.submit(ask, request).add_done_callback(lambda done: arrived.put((running, done)))

    pool = ThreadPoolExecutor(concurrency, thread_name_prefix="judge")
    try:
        while not stop():
            # Twice as many as fit, so that a thread never waits for this one. However many need no request
            # at all, the next one that does is looked for.
            while waiting < 2 * concurrency and not stop() and (asking := next(rest, None)) is not None:
                running = _Running(asking)
                if running.request:
                    submit(running, running.request)
                    waiting += 1
                else:
                    yield running.result
            if not waiting:
                return
            with suppress(Empty):
                running, reply = arrived.get(timeout=STOP_LOOK_S)
                running.take(reply.result())
                if running.request:
                    submit(running, running.request)
                else:
                    waiting -= 1
                    yield running.result
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
