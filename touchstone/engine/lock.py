"""One run per engine: a lock by address, shared by everybody who uses this machine.

Two runs on one server would time each other's requests and swap each other's models.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from touchstone.engine.address import address_of
from touchstone.errors import NotJudgedError
from touchstone.files import exclusive_lock

LOOK_S = 1.0
SAY_S = 60.0


def lock_path(base_url: str, folder: Path | None = None) -> Path:
    """The lock file of an engine's address; `localhost` and 127.0.0.1 are one machine."""
    address = address_of(base_url)
    host = "loopback" if address.is_loopback else re.sub(r"[^A-Za-z0-9.-]", "_", address.host)
    return (folder or Path(tempfile.gettempdir())) / f"touchstone-{host}-{address.port}.lock"


@contextmanager
def engine_lock(
    base_url: str,
    *,
    wait_s: float,
    say: Callable[[str], None],
    stop: Callable[[], bool] = lambda: False,
    folder: Path | None = None,
) -> Iterator[None]:
    """Hold the engine's lock, waiting up to `wait_s` for it with a line a minute; then NotJudgedError."""
    path, began, next_word = lock_path(base_url, folder), time.monotonic(), 0.0
    while True:
        with ExitStack() as held:
            if _took(held, path, base_url, is_last_try=time.monotonic() - began >= wait_s or stop()):
                yield
                return
        waited = time.monotonic() - began
        if waited >= next_word:
            say(f"waiting for another run on {base_url} ({waited / 60:.0f} min so far)")
            next_word += SAY_S
        time.sleep(min(LOOK_S, max(wait_s - waited, 0)))


def _took(held: ExitStack, path: Path, base_url: str, *, is_last_try: bool) -> bool:
    try:
        held.enter_context(
            exclusive_lock(
                path,
                f"another touchstone run is using {base_url}",
                "Wait until it is done, or start with --wait.",
            )
        )
    except NotJudgedError:
        if is_last_try:
            raise
        return False
    return True
