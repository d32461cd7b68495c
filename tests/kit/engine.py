"""The embedded engine for tests: a cache of its own, so that no running engine of the person is touched."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from touchstone.demo.model import cache_folder, model_file
from touchstone.files import exclusive_lock


def cache_with_model(folder: Path) -> Path:
    """An engine cache in `folder` whose model is the one in the user's cache, fetched there once."""
    shared = cache_folder(os.environ, sys.platform, Path.home())
    shared.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(shared / "engine.lock", "the embedded engine is being started elsewhere"):
        model = model_file(shared, print)
    (folder / model.name).symlink_to(model)
    return folder
