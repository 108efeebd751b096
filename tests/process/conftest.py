"""The workshop of a test: a directory, the agents started there, and the cleanup of whatever they leave."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from workshop import Workshop


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    workshop = Workshop(tmp_path)
    yield workshop
    workshop.close()
