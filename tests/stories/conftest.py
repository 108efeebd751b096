"""The migration recorded in two ways: block by block through `record`, and as a whole through `wrap`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from commandline import Place
from migration import PROJECT, STEPS
from places import environment, place, template_place, zygote
from recorded_story import Story

__all__ = ["environment", "place", "template_place", "zygote"]


@pytest.fixture(scope="session")
def project(template_place: Place, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The project before the migration, committed."""
    place = template_place.copy(tmp_path_factory.mktemp("project") / "work")
    place.git("rm", "-q", "-r", ".")
    for name, content in PROJECT.items():
        place.write(name, content)
    place.git("add", "-A")
    place.git("commit", "-q", "-m", "with moment")
    return place


@pytest.fixture(scope="session")
def through_record(project: Place, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Each block passed to `gitckpt record` when its step is done."""
    place = project.copy(tmp_path_factory.mktemp("record") / "work")
    at = {"start": place.bytes()}
    for step in STEPS:
        for name, content in step.files.items():
            place.write(name, content)
        place.ok("record", stdin=step.block)
        at[step.id] = place.bytes()
    return Story(place, place.json("status")["session"], at)


@pytest.fixture(scope="session")
def through_wrap(project: Place, tmp_path_factory: pytest.TempPathFactory, through_record: Story) -> Story:
    """The agent run by `gitckpt wrap`."""
    place = project.copy(tmp_path_factory.mktemp("wrap") / "work")
    agent = str(Path(__file__).parents[1] / "migrating_agent.py")
    answer = place.ok("wrap", "--", sys.executable, agent)
    assert answer.out == "".join(f"I am at {step.id} now.\n{step.block}" for step in STEPS)
    assert answer.err == ""
    return Story(place, place.json("status")["session"], through_record.at)


@pytest.fixture(params=["record", "wrap"])
def story(request: pytest.FixtureRequest, tmp_path: Path) -> Story:
    """Either of them, as a copy that the test may change."""
    told: Story = request.getfixturevalue(f"through_{request.param}")
    return told._replace(place=told.place.copy(tmp_path / "work"))
