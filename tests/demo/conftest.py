"""A fresh copy of the demo's project, and the agent stopped at each of its blocks."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from places import zygote

from gitckpt.demo import agent
from gitckpt.demo.project import create_project

__all__ = ["zygote"]

Observer = Callable[[str, str], None]


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project, created once."""
    directory = tmp_path_factory.mktemp("template") / "room-board"
    create_project(directory)
    return directory


@pytest.fixture
def project(template: Path, tmp_path: Path) -> Path:
    """A copy of the project that the test may change."""
    return shutil.copytree(template, tmp_path / "room-board", symlinks=True)


class WatchedAgent(agent.Agent):
    """The agent itself, which passes each text it prints, with its key, to an observer before it changes more files."""

    def __init__(self, root: Path, observe: Observer, lang: str = "zh") -> None:
        words = agent.toml(agent.HERE / "words" / f"{lang}.toml")
        super().__init__(agent.Project(str(root), agent.toml(agent.HERE / "migration.toml")), words, pause=0)
        self.observe = observe

    def say(self, key: str, **values: object) -> None:
        self.observe(key, self.words[key].format(**values))


@pytest.fixture
def watched() -> type[WatchedAgent]:
    """The class, for tests that stop the agent at each block."""
    return WatchedAgent
