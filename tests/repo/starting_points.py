"""Situations that several tests of the repository start from."""

from __future__ import annotations

from pathlib import Path

from project import Project

#: What a snapshot reports for a nested repository.
BOUNDARY = "a repository of its own: never entered, never touched"


def held(project: Project) -> dict[str, tuple[str, bytes]]:
    """Return what a snapshot taken now by a new process holds."""
    return project.held(project.snapshot().tree)


def nested(root: Path, *, commit: bool = True) -> None:
    """Create a nested repository with a file in it."""
    other = Project.create(root)
    other.write("inner", "x")
    if commit:
        other.commit("inner")


def conflict(project: Project) -> None:
    """Start a merge that stops: at a file with all three stages, at two that one side deleted, at one that both
    added.
    """
    for path in ("both", "gone here", "gone there"):
        project.write(path, "base\n")
    project.commit("base")
    project.git("checkout", "-q", "-b", "side")
    project.write("both", "side\n")
    project.write("gone here", "side\n")
    project.write("added", "side\n")
    project.remove("gone there")
    project.commit("side")
    project.git("checkout", "-q", "main")
    project.write("both", "main\n")
    project.write("gone there", "main\n")
    project.write("added", "main\n")
    project.remove("gone here")
    project.commit("main")
    project.git("merge", "side", ok=(1,))
