"""A place to run commands in, empty or after three steps of an agent."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import Place, checkpoint
from places import environment, place, template_place, zygote

__all__ = ["environment", "place", "template_place", "zygote"]


@pytest.fixture(scope="session")
def recorded_template(template_place: Place, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The repository after three steps of an agent, C1 to C3, in session `run`."""
    place = template_place.copy(tmp_path_factory.mktemp("recorded") / "work")
    for number in (1, 2, 3):
        place.write("a.txt", f"a at C{number}\n")
        place.write(f"new{number}.txt", f"new at C{number}\n")
        place.ok("record", "--session", "run", stdin=checkpoint(str(number), f"step {number}"))
    return place


@pytest.fixture
def recorded(recorded_template: Place, tmp_path: Path) -> Place:
    """A copy of it."""
    return recorded_template.copy(tmp_path / "recorded")
