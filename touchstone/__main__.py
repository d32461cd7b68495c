"""The launcher: `touchstone …` and `python -m touchstone …`.

Most calls are short, so what Python does beside the work is kept small here (docs/explanation/speed.md).
"""

from __future__ import annotations

import gc
import os
import sys

OBJECTS_BETWEEN_COLLECTIONS = 100_000
"""Python's own 700 has it look for unused cycles all through a start and the reading of a file, where there
are none."""


def main() -> None:
    """Run the command line and leave with its exit code."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    # Else pydantic reads what every installed package declares, in search of plugins.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        from touchstone.cli.boundary import run  # noqa: PLC0415  interrupted while importing is interrupted too
    except KeyboardInterrupt:
        sys.exit(130)
    code = run(sys.argv[1:])
    # The memory goes back to the system as a whole: nothing of it needs to be looked through at the end.
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    main()
