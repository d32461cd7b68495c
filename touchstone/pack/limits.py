"""A limit on CPU time, for work on data that may be hostile."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class CpuSpentError(Exception):
    """The allowance is used up."""


class CpuAllowance:
    """So much CPU time for each step, and so much for all of them together.

    CPU time, not wall time, so a busy machine refuses nothing. Signals reach the main thread only:
    elsewhere steps run without a limit.
    """

    def __init__(self, *, each_s: float, total_s: float) -> None:
        self._each_s = each_s
        self._left_s = total_s

    @contextmanager
    def step(self) -> Iterator[None]:
        """Raise CpuSpentError inside the block once its share is used up."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        share_s = min(self._each_s, self._left_s)
        if share_s <= 0:
            raise CpuSpentError
        before = signal.signal(signal.SIGPROF, _spent)
        signal.setitimer(signal.ITIMER_PROF, share_s)
        try:
            yield
        finally:
            rest_s, _ = signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
            self._left_s -= share_s - rest_s


def _spent(_number: int, _frame: FrameType | None) -> None:
    raise CpuSpentError
