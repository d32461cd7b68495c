"""The launcher: `touchstone …` and `python -m touchstone …`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        from touchstone.cli.boundary import run  # noqa: PLC0415  interrupted while importing is interrupted too
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
