"""A work tree to go back to, and a change of every kind after it."""

from __future__ import annotations

from project import Project


def change_everything(project: Project) -> None:
    """Make a change of every kind."""
    project.write("src/app.py", "changed\n")
    (project.root / "tests" / "check.sh").chmod(0o644)
    project.remove("README.md")
    project.write("new/deep/file", "new\n")
    project.remove("src/lib")
    project.write("src/lib", "a file where a directory was\n")
    project.remove("link")
    project.write("link/inner", "a directory where a link was\n")
    project.remove("file")
    project.link("file", "link where a file was")
    (project.root / "private").chmod(0o644)
    project.remove("emptied/x")
    project.write("data/was-empty", "x")
    (project.root / "another empty one").mkdir()


def at_c1(project: Project) -> None:
    """Create more files than the template has, and a checkpoint of them."""
    project.link("link", "src")
    project.write("file", b"bytes \0\xff\r\n")
    project.write("private", "secret\n", 0o600)
    project.write("emptied/x", "x")
    project.write("ignored.log", "not recorded\n")
    (project.root / "data").mkdir(mode=0o700)
    project.checkpoint("C1", session="s")
