"""Remember which agent records this machine has written itself, so that a command that came with someone else's refs is
not run unseen. The notes stay in the private directory, and so are never fetched."""

from __future__ import annotations

import os

from gitckpt.repo.private import append

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.repo.repository import Repository

#: Bytes of the notes that are searched, from the end: some thousand runs.
MOST = 256 * 1024


def note_started(repository: Repository, commit: str) -> None:
    """Note that the agent in the record of this event was started here. If that fails, the user is asked before the
    command is run again.

    The id of the commit stands for its record and for everything on record before it."""
    try:
        append(_path(repository), commit.encode())
    except OSError:
        return


def was_started_here(repository: Repository, commit: str) -> bool:
    """Return whether the agent in the record of this event was started from this work tree."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        with open(_path(repository), "rb", opener=lambda path, _: os.open(path, flags)) as file:
            file.seek(max(os.fstat(file.fileno()).st_size - MOST, 0))
            return commit.encode() in file.read(MOST).split(b"\n")
    except OSError:
        return False


def is_running(pid: int) -> bool:
    """Return whether a process with this id is alive and is one of ours: process ids are reused."""
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"gitckpt" in file.read()
    except FileNotFoundError:
        return not os.path.isdir("/proc/self")
    except OSError:
        return False


def _path(repository: Repository) -> bytes:
    return os.path.join(repository.private_dir, b"started")
