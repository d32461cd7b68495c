"""How the tests are shared between processes.

The tests of a file stay together, since what they share is made once for each process. Those that start the
embedded engine run one after another, as a person starts it: each looks for a port first. The longest begin
first, so that nobody waits for them at the end.
"""

from __future__ import annotations

import pytest

LONGEST = ("test_crash_matrix.py", "test_docs_tutorial.py", "test_story.py", "test_e2e.py")


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_place)
    for item in items:
        together = "engine" if item.get_closest_marker("engine") else str(item.path)
        item.add_marker(pytest.mark.xdist_group(together))


def _place(item: pytest.Item) -> int:
    return LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST)
