"""The picture of what is on disk is the one that git itself would record."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from gitckpt.demo.picture import commits_and_index, differences, ignored, in_checkpoint, on_disk
from gitckpt.repo.gateway import Git


def git(directory: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=directory, check=True, capture_output=True, text=True).stdout.strip()


def staged_tree(directory: Path) -> str:
    """The tree that plain git makes of all that is not ignored."""
    git(directory, "add", "--all")
    return git(directory, "write-tree")


def test_disk_and_tree_agree(project: Path) -> None:
    (project / "empty.txt").write_text("")
    (project / "a folder").mkdir()
    (project / "a folder" / "link to a folder").symlink_to("../src")
    (project / os.fsdecode(b"not-utf-8-\xff")).write_bytes(b"\0\r\n")
    plain = Git(os.fsencode(project))
    disk = on_disk(str(project))
    assert ignored(plain) == [b".env"]
    del disk[b".env"]
    assert in_checkpoint(plain, staged_tree(project)) == disk


def test_each_difference_is_named() -> None:
    expected = {b"a": (b"100644", b"1"), b"b": (b"100644", b"2"), b"c": (b"100644", b"3"), b"d": (b"100644", b"4")}
    found = {b"b": (b"100644", b"5"), b"c": (b"100755", b"3"), b"d": (b"100644", b"4"), b"e": (b"120000", b"6")}
    assert differences(expected, found) == [
        "a: is missing",
        "b: has other bytes",
        "c: has mode 100755, not 100644",
        "e: should not be there",
    ]
    assert differences(expected, expected) == []


def test_commits_branches_tags_and_index_are_seen(project: Path) -> None:
    plain = Git(os.fsencode(project))
    seen = [commits_and_index(plain)]
    for command in (["tag", "v1"], ["branch", "other"], ["add", "README.md"], ["checkout", "-q", "other"]):
        git(project, *command)
        seen.append(commits_and_index(plain))
    assert len(set(seen)) == 5
    (project / "notes.txt").write_text("not in the index")
    assert commits_and_index(plain) == seen[-1]
