"""Machines that share a server: a bare repository, and clones with their own sessions."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from commandline import Place, checkpoint
from machines import Shared
from places import environment, place, template_place, zygote

__all__ = ["environment", "place", "template_place", "zygote"]


@pytest.fixture(scope="session")
def shared_template(template_place: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server with the first commit, and a clone, `one`, with three steps in session `run`."""
    top = tmp_path_factory.mktemp("shared")
    template_place.git("clone", "-q", "--bare", "--no-local", ".", str(top / "server.git"))
    template_place.git("clone", "-q", str(top / "server.git"), str(top / "one"))
    one = Place(top / "one", template_place.env, template_place.zygote)
    one.git("config", "gitckpt.durable", "false")
    one.git("remote", "set-url", "origin", "../server.git")
    for number in (1, 2, 3):
        one.write("a.txt", f"a at C{number}\n")
        one.write(f"new{number}.txt", f"new at C{number}\n")
        one.ok("record", "--session", "run", stdin=checkpoint(str(number), f"step {number}"))
    return top


@pytest.fixture
def shared(shared_template: Path, template_place: Place, tmp_path: Path) -> Shared:
    """A copy of them."""
    shutil.copytree(shared_template, tmp_path / "shared", symlinks=True)
    return Shared(tmp_path / "shared", template_place)


@pytest.fixture(scope="session")
def pushed_template(shared_template: Path, template_place: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same after `one` has pushed, and with `two`."""
    top = tmp_path_factory.mktemp("pushed") / "shared"
    shutil.copytree(shared_template, top, symlinks=True)
    machines = Shared(top, template_place)
    machines.one.ok("push")
    machines.machine("two")
    return top


@pytest.fixture
def pushed(pushed_template: Path, template_place: Place, tmp_path: Path) -> Shared:
    """A copy of that."""
    shutil.copytree(pushed_template, tmp_path / "shared", symlinks=True)
    return Shared(tmp_path / "shared", template_place)
