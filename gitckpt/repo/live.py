"""Which processes live, and which of them record: these hold a lock on a file named like the session, and the kernel
lets go when they die."""

from __future__ import annotations

import fcntl
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.repo.repository import Repository


class Attendance:
    """The sessions that this process records into, one work tree's."""

    def __init__(self, repository: Repository) -> None:
        self._directory = os.path.join(repository.private_dir, b"live")
        self._held: dict[str, int] = {}

    def attend(self, session: str) -> None:
        """Be seen to record into a session. Where that cannot be, recording goes on all the same."""
        if session in self._held:
            return
        from gitckpt.repo.private import directory

        try:
            directory(self._directory)
            path = os.path.join(self._directory, os.fsencode(session))
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except OSError:
            return
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        self._held[session] = descriptor

    def leave(self) -> None:
        """Record no longer; the last one to leave takes the file away."""
        for session, descriptor in self._held.items():
            if _is_alone(descriptor):
                _remove(os.path.join(self._directory, os.fsencode(session)))
            os.close(descriptor)
        self._held = {}

    def __del__(self) -> None:
        """Who is forgotten without a word is there no longer."""
        for descriptor in self._held.values():
            os.close(descriptor)


def is_attended(private_dir: bytes, session: str) -> bool:
    """Whether a process records into the session in the work tree with this private directory."""
    try:
        descriptor = os.open(os.path.join(private_dir, b"live", os.fsencode(session)), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _is_alone(descriptor)
    finally:
        os.close(descriptor)


def is_alive(pid: int) -> bool:
    """Whether there is a process with this id, anybody's."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _is_alone(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove(path: bytes) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
