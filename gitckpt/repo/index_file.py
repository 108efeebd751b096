"""An index as a file: telling whether it was written, and copying it so that git trusts the copy as far as it may."""

from __future__ import annotations

import os

from gitckpt.errors import GitFailed
from gitckpt.repo.private import clear, is_plain_file


def stat_key(path: bytes) -> tuple[int, ...]:
    """What changes when a file is written or replaced; () where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


def copy_index(source: bytes, target: bytes) -> bool:
    """Copy an index with its modification time in nanoseconds; whether there was one.

    Raises GitFailed where it cannot be read.

    Git tells a racy entry by comparing its time with the index file's: a copy with a new time loses edits without a
    word."""
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
    except PermissionError as error:  # as a git of root's under a strict umask leaves it
        hint = "see who owns it: git status fails at it too"
        raise GitFailed(f"{os.fsdecode(source)!r} cannot be read: {error.strerror}", hint) from error
    os.utime(temporary, ns=(status.st_atime_ns, status.st_mtime_ns))
    _copy_shared_index(os.path.dirname(source), os.path.dirname(target))
    os.replace(temporary, target)
    return True


def _copy_shared_index(source: bytes, target: bytes) -> None:
    """A split index names a file beside it, which git looks for beside the copy."""
    if not os.path.isdir(source):
        return
    for name in os.listdir(source):
        if name.startswith(b"sharedindex.") and not os.path.exists(os.path.join(target, name)):
            with open(os.path.join(source, name), "rb") as reader, open(os.path.join(target, name), "wb") as writer:
                writer.write(reader.read())
