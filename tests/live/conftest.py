from __future__ import annotations

import re

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Another `-m` than the configured one must not select these by accident: they install 500 MB."""
    if re.search(r"\blive\b", str(config.getoption("markexpr"))):
        return
    for item in items:
        if item.get_closest_marker("live"):
            item.add_marker(pytest.mark.skip(reason="run by: make live"))
