"""Where a work tree ends: at nested directories that are repositories of their own."""

from __future__ import annotations

import os


def is_repository(directory: bytes) -> bool:
    """Return whether git treats this directory as a repository of its own: its `.git` is a git directory, or a file
    that points to one."""
    dot_git = os.path.join(directory, b".git")
    try:
        if os.path.isdir(dot_git):
            return _is_git_dir(dot_git)
        if os.path.exists(dot_git) and not os.path.isfile(dot_git):
            return False  # opening a FIFO would block forever
        with open(dot_git, "rb") as file:
            content = file.read(8192)
    except OSError:
        return True
    target = content.removeprefix(b"gitdir:").strip()
    return content.startswith(b"gitdir:") and _is_git_dir(os.path.join(directory, target))


def _is_git_dir(path: bytes) -> bool:
    common = path
    try:
        with open(os.path.join(path, b"commondir"), "rb") as file:
            common = os.path.join(path, file.read().strip())
    except OSError:
        pass
    return os.path.lexists(os.path.join(path, b"HEAD")) and all(
        os.path.isdir(os.path.join(common, name)) for name in (b"objects", b"refs")
    )
