"""An index as a file: detecting that it was written, and copying it so that git trusts the copy no more than the
original."""

from __future__ import annotations

import os

from gitckpt.errors import GitFailed
from gitckpt.repo.private import clear, is_plain_file


def stat_key(path: bytes) -> tuple[int, ...]:
    """Return what changes when a file is written or replaced; () if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


def copy_index(source: bytes, target: bytes) -> bool:
    """Copy an index, keeping its modification time to the nanosecond. Return whether there was one.

    Raise GitFailed if it cannot be read.

    Git detects a racy entry by comparing its time with that of the index file: a copy with a new time silently loses
    edits."""
    temporary = b"%s.%d" % (target, os.getpid())
    if not is_plain_file(target):
        clear(target)
    if os.path.lexists(source) and not os.path.isfile(source):
        raise GitFailed(f"{os.fsdecode(source)!r} is no file", "git status says what is wrong with the staging area")
    try:
        with open(source, "rb") as reader, open(temporary, "wb") as writer:
            status = os.fstat(reader.fileno())
            while piece := reader.read(1 << 20):
                writer.write(piece)
    except FileNotFoundError:
        return False
    except PermissionError as error:  # e.g. if root ran git under a strict umask
        hint = "see who owns it: git status fails at it too"
        raise GitFailed(f"{os.fsdecode(source)!r} cannot be read: {error.strerror}", hint) from error
    os.utime(temporary, ns=(status.st_atime_ns, status.st_mtime_ns))
    _copy_shared_index(os.path.dirname(source), os.path.dirname(target))
    os.replace(temporary, target)
    return True


def _copy_shared_index(source: bytes, target: bytes) -> None:
    """Copy the shared file that a split index names: git looks for it beside the copy."""
    if not os.path.isdir(source):
        return
    for name in os.listdir(source):
        if name.startswith(b"sharedindex.") and not os.path.exists(os.path.join(target, name)):
            with open(os.path.join(source, name), "rb") as reader, open(os.path.join(target, name), "wb") as writer:
                writer.write(reader.read())
