"""Golden files: whole documents kept under `tests/golden`, compared byte for byte.

After a deliberate change run the test once with UPDATE_GOLDEN=1 and read the difference in git.
"""

from __future__ import annotations

import os
from pathlib import Path

GOLDEN = Path(__file__).parent.parent / "golden"


def golden(name: str, text: str) -> str:
    """The kept text of a golden file, replaced by `text` first when UPDATE_GOLDEN is set."""
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8")
