"""What one snapshot keeps for the next is given up as soon as it may no longer hold."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from project import Project

from gitckpt.repo.directories import Directories
from gitckpt.repo.private import index_path
from gitckpt.repo.repository import discover
from gitckpt.repo.snapshot import Staging
from gitckpt.repo.staging import refresh
from gitckpt.repo.worktree import WorkTree


def staging_of(tree: WorkTree) -> Staging:
    with tree.lock:
        staging = tree.snapshotter.take().staging
    assert staging is not None
    return staging


@pytest.fixture
def tree(project: Project) -> WorkTree:
    return WorkTree(discover(os.fsencode(project.root)))


def test_a_staging_area_with_new_stat_data_alone_is_the_same(project: Project, tree: WorkTree) -> None:
    before = staging_of(tree)
    os.utime(project.root / "README.md", ns=(1, 1))
    project.git("update-index", "--refresh")
    assert staging_of(tree) is before


@pytest.mark.parametrize(
    "change",
    [
        ("update-index", "--chmod=+x", "README.md"),
        ("update-index", "--skip-worktree", "README.md"),
        ("rm", "-q", "--cached", "README.md"),
        ("add", "-N", "empty"),
        ("add", "empty"),
    ],
)
def test_anything_else_is_seen(project: Project, tree: WorkTree, change: tuple[str, ...]) -> None:
    project.write("empty", "")
    before = staging_of(tree)
    project.git(*change)
    after = staging_of(tree)
    assert not after.same_content(before) or after.skipped != before.skipped


def test_an_intention_that_becomes_an_empty_file_is_seen(project: Project, tree: WorkTree) -> None:
    project.write("empty", "")
    project.git("add", "-N", "empty")
    assert staging_of(tree).intended == {b"empty": b"100644"}
    project.git("add", "empty")
    assert staging_of(tree).intended == {}


def test_a_tracked_file_under_a_new_rule_is_told_though_the_index_is_the_same(project: Project, tree: WorkTree) -> None:
    assert staging_of(tree).forced == []
    project.write(".gitignore", "README.md\n")
    assert staging_of(tree).forced == [b"README.md"]


def test_permissions_that_change_are_seen_in_a_directory_that_was_read(project: Project) -> None:
    project.write("kept/file", "x")
    time.sleep(0.05)  # else it is read again in any case
    raw = WorkTree(discover(os.fsencode(project.root))).raw
    directories = Directories(os.fsencode(project.root), raw)
    directories.look({b"kept"}, [])
    assert directories.known[b"kept"].mode == (project.root / "kept").stat().st_mode & 0o7777
    os.chmod(project.root / "kept", 0o701)
    directories.look({b"kept"}, [])
    assert directories.known[b"kept"].mode == 0o701
    assert b"kept" in directories.changed


@pytest.mark.parametrize("count", [3, 150])
def test_edits_are_no_longer_seen_after_a_refresh(project: Project, count: int) -> None:
    paths = [f"many/file {n}*[?].txt" for n in range(count)]
    for path in paths:
        project.write(path, path)
    project.git("add", "-A")
    for path in paths:
        os.utime(project.root / path, ns=(10**9, 10**9))
    project.write("many/untracked", "x")
    stale = project.git("diff-files", "--name-only", "-z")
    tree = project.tree()
    with tree.lock:
        refresh(tree.repository, {os.fsencode(path) for path in paths} | {b"many/untracked", b"many", b"gone"})
    assert stale.count("\0") == count
    assert project.git("diff-files", "--name-only", "-z") == ""
    assert project.git("ls-files", "-o") == "many/untracked"


def test_a_refresh_without_an_index_makes_none(home: Path, tmp_path: Path) -> None:
    project = Project.create(tmp_path / "new")
    repository = discover(os.fsencode(project.root))
    refresh(repository, {b"some"})
    assert not os.path.exists(repository.index_path)
    assert not os.path.exists(index_path(repository))
