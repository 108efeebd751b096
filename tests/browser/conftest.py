"""A headless browser. Without one, the tests in this directory are skipped: `pip install '.[browser]'` installs its
driver, and Chromium comes from the system, or from `playwright install chromium`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

#: The names of the program on different systems.
NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, started once for all tests."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, NAMES)), None)
        try:
            running = playwright.chromium.launch(executable_path=found)
        except api.Error as error:
            pytest.skip(f"no Chromium can be started: {str(error).splitlines()[0]}")
        yield running
        running.close()
