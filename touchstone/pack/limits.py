"""A limit on CPU time, for work on data that may be hostile."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class CpuSpentError(Exception):
    """The allowance is used up."""


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise CpuSpentError inside the block once it has used `seconds` of this process's CPU time.

    CPU time, not wall time, so a busy machine refuses nothing. Signals reach the main thread only:
    elsewhere the block runs without a limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _spent)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _spent(_number: int, _frame: FrameType | None) -> None:
    raise CpuSpentError
