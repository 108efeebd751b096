"""What the validation before a commit reads: staged blobs, and nothing is touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from observation import differences
from project import Project

from gitckpt.repo.repository import discover
from gitckpt.repo.staged import LARGEST, staged_contents

BLOCK = "===CHECKPOINT 1===\n===END===\n"


def test_staged_files_that_may_hold_blocks(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("log.md", BLOCK)
    project.write("宽.md", "＝＝＝CHECKPOINT 1＝＝＝\n")
    project.write("plain.txt", "no marker\n")
    project.write("binary", BLOCK.encode() + b"\0")
    project.write("tool.sh", BLOCK, 0o755)
    project.link("link", "===")
    project.git("add", "-A")
    project.write("log.md", "edited since\n")
    project.write("README.md", BLOCK)
    project.git("mv", "src/app.py", "src/===.py")
    project.git("rm", "-q", "tests/check.sh")
    before = project.of_the_user(), project.disk()
    monkeypatch.chdir(project.root / "src")
    assert dict(staged_contents(discover())) == {
        "log.md": BLOCK.encode(),
        "宽.md": "＝＝＝CHECKPOINT 1＝＝＝\n".encode(),
        "tool.sh": BLOCK.encode(),
    }
    assert differences(before[0], project.of_the_user()) == {}
    assert project.disk() == before[1]


def test_before_the_first_commit(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project.create(tmp_path / "new")
    project.write("log.md", BLOCK)
    project.git("add", "log.md")
    monkeypatch.chdir(project.root)
    assert dict(staged_contents(discover())) == {"log.md": BLOCK.encode()}


def test_the_index_that_a_commit_of_some_paths_prepares(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("log.md", BLOCK)
    monkeypatch.chdir(project.root)
    assert dict(staged_contents(discover())) == {}
    other = project.root / ".git" / "next-index-1.lock"
    monkeypatch.setenv("GIT_INDEX_FILE", str(other))
    project.git("read-tree", "HEAD")
    project.git("add", "log.md")
    assert dict(staged_contents(discover())) == {"log.md": BLOCK.encode()}
    monkeypatch.setenv("GIT_INDEX_FILE", str(project.root.parent / "foreign-index"))
    assert dict(staged_contents(discover())) == {}


def test_very_large_files_are_data(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("large", BLOCK.encode() + b"x" * LARGEST)
    project.git("add", "large")
    monkeypatch.chdir(project.root)
    assert dict(staged_contents(discover())) == {}
    assert os.path.getsize(project.root / "large") > LARGEST
