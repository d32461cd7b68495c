"""How processes share the tests: the longest files begin first, so that nobody waits at the end."""

from __future__ import annotations

import pytest

LONGEST = ("test_crash_matrix.py", "test_docs_tutorial.py", "test_story.py", "test_e2e.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_place)


def _place(item: pytest.Item) -> int:
    return LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST)
