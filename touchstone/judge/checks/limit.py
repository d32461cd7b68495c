"""The time limit every check runs under.

An alarm signal interrupts the work. Python's matcher listens to signals only inside one attempt at one
place, so patterns are tried place by place (`patterns`); everything else here is Python that is
interrupted between two steps.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

from touchstone.judge.checks.finding import CannotCheckError

LIMIT_S = 0.2
_REMIND_S = 0.05
"""The alarm rings again: the first one may fall where exceptions are swallowed, as in a destructor."""

T = TypeVar("T")


class _TimeUpError(BaseException):
    """Not an Exception, so that no `except Exception` on the way swallows it."""


def within_limit(work: Callable[[], T], limit_s: float = LIMIT_S) -> T:
    """The result of `work`, or CannotCheckError when it takes longer than `limit_s` seconds.

    Works in the main thread only, where Python delivers signals; elsewhere CannotCheckError. A timer
    and a handler that were set before are set again afterwards.
    """
    if threading.current_thread() is not threading.main_thread():
        raise CannotCheckError("checks run in the main thread: elsewhere they cannot be limited")
    running, rang = True, False

    def ring(_signal: int, _frame: object) -> None:
        nonlocal rang
        if running:
            rang = True
            raise _TimeUpError

    previous_hook = sys.unraisablehook
    sys.unraisablehook = _quiet_where_swallowed(previous_hook)
    previous_handler = signal.signal(signal.SIGALRM, ring)
    previous_timer = signal.setitimer(signal.ITIMER_REAL, limit_s, _REMIND_S)
    try:
        try:
            return work()
        finally:
            running = False  # before anything is called: a late ring must not fall into the clean-up
    except _TimeUpError:
        raise CannotCheckError(f"took longer than {limit_s * 1000:.0f} ms") from None
    finally:
        left_s, _ = signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous_handler)
        sys.unraisablehook = previous_hook
        _set_again(previous_timer, limit_s if rang else limit_s - left_s)


def _quiet_where_swallowed(report: Callable[[sys.UnraisableHookArgs], object]) -> Callable[..., object]:
    """A ring that falls into a destructor is not reported: the alarm rings again."""

    def report_others(lost: sys.UnraisableHookArgs) -> None:
        if not isinstance(lost.exc_value, _TimeUpError):
            report(lost)

    return report_others


def _set_again(timer: tuple[float, float], spent_s: float) -> None:
    delay, interval = timer
    if delay > 0:
        signal.setitimer(signal.ITIMER_REAL, max(delay - spent_s, 0.001), interval)
