"""The user's index is written whole or not at all, and a lock on it that is known to be ours is taken away."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from project import Project

from gitckpt.errors import GitFailed
from gitckpt.repo.user_index import UserIndex


def stage_readme(project: Project, patience: float = 0.1) -> None:
    project.tree()
    with UserIndex(project.repository(), patience) as git:
        git.run("update-index", "--add", "--cacheinfo", f"100644,{project.git('hash-object', '-w', 'README.md')},new")


def test_what_git_did_on_the_copy_is_in_the_index(project: Project) -> None:
    stage_readme(project)
    assert project.git("diff", "--cached", "--name-status") == "A\tnew"
    assert list((project.root / ".git" / "gitckpt").glob("written*")) == []


def test_nothing_is_written_where_nothing_changed(project: Project) -> None:
    project.tree()
    before = project.of_the_user()
    with UserIndex(project.repository()) as git:
        git.run("ls-files")
    assert project.of_the_user() == before


def test_an_error_on_the_way_leaves_the_index_as_it_was(project: Project) -> None:
    project.tree()
    before = project.of_the_user()
    with pytest.raises(GitFailed, match="update-index"), UserIndex(project.repository()) as git:
        git.run("rm", "-q", "--cached", "README.md")
        git.run("update-index", "--nonsense", ok=())
    assert project.of_the_user() == before


def test_a_lock_of_the_users_is_respected(project: Project) -> None:
    project.write(".git/index.lock", "his")
    before = project.of_the_user()
    with pytest.raises(GitFailed, match="git is at work on it"):
        stage_readme(project)
    assert project.of_the_user() == before


def test_what_the_user_staged_meanwhile_is_not_lost(project: Project) -> None:
    project.tree()
    with pytest.raises(GitFailed, match="changed while it was being put back"), UserIndex(project.repository()) as git:
        git.run("rm", "-q", "--cached", "README.md")
        project.write("src/app.py", "staged meanwhile\n")
        project.git("add", "src/app.py")
        staged = project.staged()
    assert project.staged() == staged
    assert not (project.root / ".git" / "index.lock").exists()


def test_a_lock_that_a_killed_gitckpt_left_is_taken_away(project: Project) -> None:
    project.snapshot()
    copy = project.root / ".git" / "gitckpt" / "written.4711"
    copy.write_bytes((project.root / ".git" / "index").read_bytes())
    os.link(copy, project.root / ".git" / "index.lock")
    project.snapshot()
    assert not copy.exists()
    project.git("add", "-A")


def test_a_lock_of_the_users_is_not_taken_away(project: Project) -> None:
    project.snapshot()
    (project.root / ".git" / "gitckpt" / "written.4711").write_bytes(b"")
    project.write(".git/index.lock", "")
    project.snapshot()
    assert (project.root / ".git" / "index.lock").exists()


@contextmanager
def other_file_system(project: Project) -> Iterator[None]:
    """Our directory on another file system, where one may be mounted: a file has one name there."""
    place = project.root / ".git" / "gitckpt"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_file_system_where_a_file_has_one_name(project: Project) -> None:
    with other_file_system(project):
        stage_readme(project)
        assert project.git("diff", "--cached", "--name-status") == "A\tnew"
        with pytest.raises(GitFailed, match="git is at work on it"):
            project.write(".git/index.lock", "his")
            stage_readme(project)
