"""Ground: the one error base, and what every way out of touchstone means.

Every expected failure is a `TouchstoneError`: a message saying what is wrong and where, a hint saying
what to do next, and the exit code of its kind. The command line's boundary prints the two lines and
exits; nothing else catches the base class.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """What the process tells its caller; the table in README and `--help` is checked against this."""

    NOTHING_WORSE = 0
    WORSE = 1
    NOT_JUDGED = 2
    NOT_COMPARABLE = 3
    REFUSED = 4
    USAGE = 64
    BUG = 70
    INTERRUPTED = 130


EXIT_MEANINGS: dict[ExitCode, str] = {
    ExitCode.NOTHING_WORSE: "nothing worse (or, without a comparison: done)",
    ExitCode.WORSE: "worse than the baseline",
    ExitCode.NOT_JUDGED: "could not be judged (engine unreachable, too many errors, budget, lock)",
    ExitCode.NOT_COMPARABLE: "not comparable, no verdict",
    ExitCode.REFUSED: "refused, or unusable input",
    ExitCode.USAGE: "wrong usage",
    ExitCode.BUG: "a bug in touchstone",
    ExitCode.INTERRUPTED: "interrupted",
}


class TouchstoneError(Exception):
    """An expected failure.

    `message` says what is wrong and where (`file:line: key: …` when it is a file); `hint` is the next
    thing to do, ready to copy; `exit_code` is how the process ends if nobody handles it.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.REFUSED

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class BadInputError(TouchstoneError):
    """A file, option or reference that cannot be used as it stands."""


class RefusedError(TouchstoneError):
    """Something touchstone will not do, with the way out in the hint."""


class NotComparableError(TouchstoneError):
    """Two measurements that no common ruler fits."""

    exit_code = ExitCode.NOT_COMPARABLE


class NotJudgedError(TouchstoneError):
    """The run could not be carried far enough to say anything."""

    exit_code = ExitCode.NOT_JUDGED


class EngineError(NotJudgedError):
    """The model server cannot be reached or does not do what it must."""


class UsageError(TouchstoneError):
    """Options that do not fit together."""

    exit_code = ExitCode.USAGE


class InterruptedRunError(TouchstoneError):
    """The user or the system asked to stop; the hint is the command that goes on."""

    exit_code = ExitCode.INTERRUPTED
