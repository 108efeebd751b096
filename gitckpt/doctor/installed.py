"""What is installed, and which repository this is."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import stat
import sys
from typing import TYPE_CHECKING

from gitckpt import __version__
from gitckpt.doctor.patient import Patient, Remark, shown
from gitckpt.errors import GitFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The oldest versions that gitckpt works with.
PYTHON = (3, 11)
GIT = (2, 30)

LIBRARIES = ("gitpython", "typer", "pydantic", "pyyaml", "mcp")


def python(patient: Patient) -> Iterator[Remark]:
    """Python and gitckpt themselves."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < PYTHON:
        yield Remark("mend", f"Python {version} is older than 3.11", "install gitckpt with a newer Python")
    else:
        yield Remark("ok", f"gitckpt {__version__}, Python {version}, {sys.platform}")


def libraries(patient: Patient) -> Iterator[Remark]:
    """The libraries that gitckpt needs."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            yield Remark("mend", f"the library {name} is not installed", f"{sys.executable} -m pip install {name}")
    if found:
        yield Remark("ok", ", ".join(f"{name} {version}" for name, version in found.items()))
    import yaml

    if not hasattr(yaml, "CSafeLoader"):
        yield Remark(
            "note", "PyYAML was built without libyaml: reading records takes about seven times as long",
            f"{sys.executable} -m pip install --force-reinstall --no-cache-dir pyyaml",
        )  # fmt: skip


def git(patient: Patient) -> Iterator[Remark]:
    """Which git is found, and whether it is new enough."""
    path = shutil.which("git")
    if path is None:
        yield Remark("mend", "git was not found on PATH", "install git 2.30 or newer")
        return
    answer = patient.git.text("version")
    numbers = re.search(r"(\d+)\.(\d+)", answer)
    if numbers is None:
        raise GitFailed(f"git version answered {answer!r}", f"{path} --version")
    if (int(numbers[1]), int(numbers[2])) < GIT:
        yield Remark("mend", f"{answer} is older than 2.30", "install git 2.30 or newer")
    else:
        yield Remark("ok", f"{answer} ({path})")


def odd_git(patient: Patient) -> Iterator[Remark]:
    """Whether someone else could have put the git on PATH there."""
    path = shutil.which("git")
    if path is None:
        return
    directory = os.path.dirname(path)
    help = "see PATH: echo $PATH"
    if not os.path.isabs(path):
        yield Remark("mend", f"git is found by a relative entry of PATH, {directory or '.'}", help)
        return
    work_tree = patient.repository.work_tree if patient.repository else None
    if work_tree and os.fsencode(os.path.realpath(path)).startswith(os.path.realpath(work_tree) + b"/"):
        yield Remark("mend", f"the git that is run lies in the work tree: {path}", help)
    mode = os.stat(directory).st_mode
    if mode & stat.S_IWOTH:
        yield Remark(
            "mend", f"anybody may put another git into {directory}", f"chmod o-w {shown(os.fsencode(directory))}"
        )


def repository(patient: Patient) -> Iterator[Remark]:
    """Where the repository is, or why gitckpt does not work here."""
    found = patient.repository
    if found is not None:
        yield Remark("ok", f"work tree {os.fsdecode(found.work_tree)}, git directory {os.fsdecode(found.git_dir)}")
    elif patient.refusal is not None and shutil.which("git"):
        outside = str(patient.refusal).startswith("this is not a git repository")
        yield Remark("note" if outside else "mend", str(patient.refusal), patient.refusal.hint)
