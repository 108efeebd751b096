"""Fixtures: a user's environment without anything from the machine, and a small repository."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from commandline import Place, Zygote

GIT_CONFIG = "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"


@pytest.fixture(scope="session")
def zygote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zygote]:
    zygote = Zygote(tmp_path_factory.mktemp("zygote"))
    yield zygote
    zygote.close()


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a user with a separate home directory."""
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text(GIT_CONFIG)
    (home / "tmp").mkdir()
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TMPDIR": str(home / "tmp"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }


@pytest.fixture(scope="session")
def template_place(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str], zygote: Zygote) -> Place:
    """A repository with one commit. Its records need not survive a crash of the machine, so nothing waits for
    the disk.
    """
    path = tmp_path_factory.mktemp("template") / "work"
    path.mkdir()
    place = Place(path, environment, zygote)
    place.write("a.txt", "a as committed\n")
    place.write("src/b.txt", "b as committed\n")
    place.write(".gitignore", "*.log\n")
    place.git("init", "-q", "--template=")
    place.git("config", "gitckpt.durable", "false")
    place.git("add", "-A")
    dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "1700000000 +0000")
    place.git("commit", "-q", "-m", "first", env=dates)
    return place


@pytest.fixture
def place(template_place: Place, tmp_path: Path) -> Place:
    """The repository, with nothing recorded yet."""
    return template_place.copy(tmp_path / "work")
