from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.kit.browser import INSTALL, Browser, chromium

PICTURES = Path(__file__).parents[2] / "build" / "pages"
"""Where every page that was seen is kept as a picture."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Another `-m` than the configured one must not select these by accident: they need Chromium."""
    if re.search(r"\bbrowser\b", str(config.getoption("markexpr"))):
        return
    seen = [item for item in items if item.get_closest_marker("browser")]
    if seen:
        config.hook.pytest_deselected(items=seen)
        items[:] = [item for item in items if item not in seen]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all; without one these tests fail, for what was not seen is not known to be right."""
    if chromium() is None:
        pytest.fail(f"no Chromium on PATH. {INSTALL}")
    with Browser() as running:
        yield running


@pytest.fixture
def picture(browser: Browser, request: pytest.FixtureRequest) -> Callable[[], bytes]:
    """Keep what the browser shows now under the test's name."""

    def keep() -> bytes:
        PICTURES.mkdir(parents=True, exist_ok=True)
        shown = browser.screenshot(height_max=6000)
        (PICTURES / (re.sub(r"\W+", "-", request.node.name).strip("-") + ".png")).write_bytes(shown)
        return shown

    return keep
