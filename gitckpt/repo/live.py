"""Which processes are alive, and which of them record. A recording process holds a lock on a file named after the
session, and the kernel releases it when the process dies."""

from __future__ import annotations

import fcntl
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.repo.repository import Repository


class Attendance:
    """The sessions of one work tree that this process records into."""

    def __init__(self, repository: Repository) -> None:
        self._directory = os.path.join(repository.private_dir, b"live")
        self._held: dict[str, int] = {}

    def attend(self, session: str) -> None:
        """Show that this process records into a session. If that fails, recording goes on anyway."""
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
        """Stop showing that this process records; the last process to leave removes the file."""
        for session, descriptor in self._held.items():
            if _is_alone(descriptor):
                _remove(os.path.join(self._directory, os.fsencode(session)))
            os.close(descriptor)
        self._held = {}

    def __del__(self) -> None:
        """Release the locks of an object that is dropped without `leave`."""
        for descriptor in self._held.values():
            os.close(descriptor)


def is_attended(private_dir: bytes, session: str) -> bool:
    """Return whether a process records into the session in the work tree with this private directory."""
    try:
        descriptor = os.open(os.path.join(private_dir, b"live", os.fsencode(session)), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _is_alone(descriptor)
    finally:
        os.close(descriptor)


def is_alive(pid: int) -> bool:
    """Return whether there is a process with this id, whoever owns it."""
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
