"""The thermal level as one long stream: `powermetrics` under `sudo -n`, read line by line."""

from __future__ import annotations

import contextlib
import os
import subprocess

from touchstone.host.command import environment
from touchstone.host.readers.powermetrics import refusal_of, thermal_word_of_line

FRESH_S = 5.0
"""A level older than this is no longer known."""

NO_SOURCE = "no source on this system"
NO_LEVEL = "powermetrics gave no level"

SUDO_REMEDY = (
    "To measure the thermal level: "
    'echo "$USER ALL=(root) NOPASSWD: /usr/bin/powermetrics" | sudo tee /etc/sudoers.d/touchstone'
)

# Unbuffered (-b 0). The count ends a command that nobody reads any more even where sudo, as a process of
# root's out of reach of our signals, keeps it alive; while it is read, it is started anew.
_COMMAND = ("sudo", "-n", "powermetrics", "--samplers", "thermal", "-i", "1000", "-n", "600", "-b", "0")
_END_S = 2.0  # two writes of the command: one for sudo to notice that nobody reads, one for powermetrics
_COMPLAINT_BYTES = 4096


class ThermalStream:
    """The latest thermal level, for a loop that waits on `descriptor` and calls `feed` when it is ready.

    Where there is nothing to read, `descriptor` is None and `refusal` says why. Times are of the caller's
    monotonic clock.
    """

    def __init__(self, system: str) -> None:
        self.refusal: str | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._word: str | None = None
        self._seen_at = 0.0
        if system == "darwin":
            self._start()
        else:
            self.refusal = NO_SOURCE

    @property
    def descriptor(self) -> int | None:
        """What to wait on; None when there is no stream."""
        return self._process.stdout.fileno() if self._process and self._process.stdout else None

    @property
    def is_settled(self) -> bool:
        """Whether it is known if there is a level to be had."""
        return self._word is not None or self.refusal is not None

    def word(self, now: float) -> str | None:
        """The level; None when none came, or the stream has gone silent."""
        return self._word if now - self._seen_at <= FRESH_S else None

    def feed(self, now: float) -> None:
        """Take in what the stream has written; at its end start it anew if it ever gave a level."""
        if self.descriptor is None:
            return
        data = os.read(self.descriptor, 65536)
        if data:
            self._take(data, now)
            return
        self.close()
        if self._gave_level:
            self._start()
        else:
            complaint = self._complaint.decode("utf-8", errors="replace")
            self.refusal = refusal_of(complaint) or NO_LEVEL

    def close(self) -> None:
        """End the stream. What cannot be signalled ends on its next write, since nobody reads."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdout:
            process.stdout.close()
        with contextlib.suppress(OSError):
            process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_END_S)

    def __enter__(self) -> ThermalStream:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def _start(self) -> None:
        self._rest = self._complaint = b""
        self._gave_level = False
        try:
            self._process = subprocess.Popen(
                _COMMAND,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=environment(os.environ),
            )
        except OSError:
            self.refusal = "there is no sudo"

    def _take(self, data: bytes, now: float) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            word = thermal_word_of_line(line.decode("utf-8", errors="replace"))
            if word is not None:
                self._word, self._seen_at, self._gave_level = word, now, True
            elif not self._gave_level:
                self._complaint = (self._complaint + line + b"\n")[-_COMPLAINT_BYTES:]
