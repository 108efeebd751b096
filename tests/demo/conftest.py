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
    """The project, made once."""
    directory = tmp_path_factory.mktemp("template") / "room-board"
    create_project(directory)
    return directory


@pytest.fixture
def project(template: Path, tmp_path: Path) -> Path:
    """The project, to be changed."""
    return shutil.copytree(template, tmp_path / "room-board", symlinks=True)


class WatchedAgent(agent.Agent):
    """The agent itself; each text it prints goes, by its key, to an observer while the files are as they are then."""

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
