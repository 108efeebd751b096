"""Where a work tree ends: at directories that are repositories of their own."""

from __future__ import annotations

import os


def is_repository(directory: bytes) -> bool:
    """Whether git takes this directory for a repository of its own: a `.git` that is one, or a file that leads
    to one."""
    dot_git = os.path.join(directory, b".git")
    try:
        if os.path.isdir(dot_git):
            return _is_git_dir(dot_git)
        if os.path.exists(dot_git) and not os.path.isfile(dot_git):
            return False  # to open a FIFO is to wait for ever
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
