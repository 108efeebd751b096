"""A hermetic environment: none of the caller's `GIT_*` variables, configuration or home directory, and a fixed umask.

A repository is created once and copied for each test that requests one."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from project import Project, create_template

hypothesis.settings.register_profile("suite", deadline=None, database=None)
hypothesis.settings.load_profile("suite")

#: Variables that git or gitckpt reads.
FOREIGN = ("GIT_", "GITCKPT_", "XDG_", "LC_", "SSH_")
FOREIGN_NAMES = ("EMAIL", "PAGER", "EDITOR", "VISUAL", "LANGUAGE", "NO_COLOR", "COLUMNS")


# a shell makes its background processes ignore Ctrl-C, nohup makes them ignore a hang-up, and children inherit that;
# our processes must handle both wherever the suite runs
for number, heeded in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, heeded)


@pytest.fixture(scope="session", autouse=True)
def hermetic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The same environment wherever the suite runs."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(FOREIGN) or name in FOREIGN_NAMES:
                patch.delenv(name)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("LC_ALL", "C.UTF-8")
        before = os.umask(0o022)
        yield
        os.umask(before)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory for this test only, without configuration."""
    directory = tmp_path / "home"
    directory.mkdir()
    monkeypatch.setenv("HOME", str(directory))
    return directory


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository that others are copied from."""
    return create_template(tmp_path_factory.mktemp("template") / "project")


@pytest.fixture
def project(template: Path, home: Path, tmp_path: Path) -> Project:
    """A repository with one commit to work in, and an empty home directory of its user."""
    return Project.copy(template, tmp_path / "project")


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A directory with a short name, for things with a limited path length."""
    directory = Path(tempfile.mkdtemp(prefix="g"))
    yield directory
    shutil.rmtree(directory, ignore_errors=True)
