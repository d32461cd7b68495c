"""When a request is worth repeating, and after how long. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Literal

RETRIED = frozenset({408, 429, 502, 503, 504})
"""Statuses that may pass by themselves; every other one is final."""

LONGEST_PAUSE_S = 60.0
_LONGEST_LOADING_PAUSE_S = 4.0

Again = Literal["no", "yes", "loading"]
"""Whether a try may be repeated: not, as one of the retries, or because the model is still loading."""


@dataclass(slots=True)
class Tries:
    """The tries of one request. Waiting for a model to load costs no retry but has its own limit."""

    retries: int
    load_s: float
    failures: int = 0
    waits: int = 0
    waited_s: float = 0.0

    def pause_after(self, again: Again, retry_after: str | None, took_s: float, now: float) -> float | None:
        """Seconds until the next try, or None if there is none.

        `took_s` is how long the failed try lasted, `now` seconds since the epoch.
        """
        asked = _retry_after_s(retry_after, now)
        if again == "loading":
            return self._loading_pause(asked, took_s)
        if again == "no" or self.failures >= self.retries:
            return None
        self.failures += 1
        return min(LONGEST_PAUSE_S, 2.0 ** (self.failures - 1) if asked is None else asked)

    def _loading_pause(self, asked: float | None, took_s: float) -> float | None:
        usual = min(_LONGEST_LOADING_PAUSE_S, 2.0**self.waits)
        pause = min(LONGEST_PAUSE_S, max(1.0, usual if asked is None else asked))
        self.waits += 1
        self.waited_s += pause + took_s
        return pause if self.waited_s <= self.load_s else None


def _retry_after_s(value: str | None, now: float) -> float | None:
    """Seconds from a Retry-After header, which holds seconds or an HTTP date; None if neither."""
    if value is None:
        return None
    value = value.strip()
    if value.isascii() and value.replace(".", "", 1).isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None
