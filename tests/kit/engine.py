"""The embedded engine for tests: a cache of its own, so that no running engine of the person is touched."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from touchstone.demo.model import cache_folder, model_file
from touchstone.errors import NotJudgedError
from touchstone.files import exclusive_lock

_MODEL_IS_THERE_S = 300
"""Longer than the model takes to be fetched."""


def cache_with_model(folder: Path) -> Path:
    """An engine cache in `folder` whose model is the one in the user's cache, fetched there once."""
    shared = cache_folder(os.environ, sys.platform, Path.home())
    shared.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + _MODEL_IS_THERE_S
    while True:
        try:
            with exclusive_lock(shared / "engine.lock", "the model is being fetched elsewhere"):
                model = model_file(shared, print)
            break
        except NotJudgedError:  # another process of the tests is at it
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
    (folder / model.name).symlink_to(model)
    return folder
