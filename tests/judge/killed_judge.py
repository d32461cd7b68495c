"""Judges a bundle and is killed, as by a power cut, while it waits for the reply to the n-th call.

`python -m tests.judge.killed_judge BUNDLE N`
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from tests.judge.scenes import IDENTITY, Judge, honest
from touchstone.engine.reply import ChatRequest, Reply
from touchstone.judge.phase import judge_bundle
from touchstone.run.bundle import Bundle


def main(path: str, calls: str) -> None:
    """Judge until the call that is never answered."""
    answers = honest()

    def says(request: ChatRequest, number: int) -> str | Reply:
        if number == int(calls):
            os.kill(os.getpid(), signal.SIGKILL)
        return answers.says(request, number)

    judge_bundle(Bundle(Path(path)), Judge(says), identity=IDENTITY)


if __name__ == "__main__":
    main(*sys.argv[1:])
