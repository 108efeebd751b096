"""What is on disk and what a checkpoint holds, in the same form, so that the demo can check every byte independently.

A picture maps each path to its git mode (`100644`, `100755`, `120000`) and the object id that git assigns to its bytes.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator

from gitckpt.repo.gateway import Git, split

#: path → (git mode, object id)
Picture = dict[bytes, tuple[bytes, bytes]]


def on_disk(directory: str) -> Picture:
    """Return a picture of every file and link below a directory, including ignored ones, without the git directory."""
    root = os.fsencode(directory)
    return {os.path.relpath(path, root): entry(path) for path in files_below(root)}


def files_below(root: bytes) -> Iterator[bytes]:
    """Yield the paths of all files and links."""
    for folder, folders, files in os.walk(root):
        if folder == root:
            folders.remove(b".git")
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        yield from (os.path.join(folder, name) for name in files + links)


def entry(path: bytes) -> tuple[bytes, bytes]:
    """Return mode and object id of one file or link."""
    if os.path.islink(path):
        return b"120000", blob_id(os.readlink(path))
    with open(path, "rb") as file:
        executable = os.fstat(file.fileno()).st_mode & stat.S_IXUSR
        return b"100755" if executable else b"100644", blob_id(file.read())


def blob_id(content: bytes) -> bytes:
    """Return the object id of these bytes in a repository with the object format sha1, as the demo uses."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest().encode()


def in_checkpoint(git: Git, ref: str) -> Picture:
    """Return a picture of the tree of a checkpoint. Raises GitFailed if there is no such ref."""
    picture = {}
    for line in split(git.run("ls-tree", "-r", "-z", "--full-tree", ref)):
        about, _, path = line.partition(b"\t")
        mode, _, oid = about.split(b" ")
        picture[path] = (mode, oid)
    return picture


def ignored(git: Git) -> list[bytes]:
    """Return the paths of the files on disk that git ignores."""
    return split(git.run("ls-files", "-z", "--others", "--ignored", "--exclude-standard"))


def commits_and_index(git: Git) -> bytes:
    """Return HEAD, the branches, the tags and the staging area, as plain git shows them."""
    return b"".join(
        git.run(*command)
        for command in (
            ("symbolic-ref", "HEAD"),
            ("for-each-ref", "refs/heads", "refs/tags"),
            ("ls-files", "-z", "--stage"),
        )
    )


def differences(expected: Picture, found: Picture) -> list[str]:
    """Return the paths in which two pictures differ, in order, each with the difference."""
    paths = sorted(path for path in expected.keys() | found.keys() if expected.get(path) != found.get(path))
    return [f"{os.fsdecode(path)}: {how(expected.get(path), found.get(path))}" for path in paths]


def how(expected: tuple[bytes, bytes] | None, found: tuple[bytes, bytes] | None) -> str:
    """Describe how one path differs."""
    if found is None:
        return "is missing"
    if expected is None:
        return "should not be there"
    return "has other bytes" if expected[1] != found[1] else f"has mode {found[0].decode()}, not {expected[0].decode()}"
