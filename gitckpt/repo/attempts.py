"""Linked work trees for attempts. They are inside the git directory, where none of the user's tools look for files.

A running fork holds a lock on a file beside them. A work tree whose lock file exists but is not held was left by a fork
that died."""

from __future__ import annotations

import fcntl
import os

from gitckpt.repo.lock import lock_file
from gitckpt.repo.private import clear

#: Suffix of the mark file beside a work tree that stays although it was meant to be removed.
LEFT = b".left"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from gitckpt.repo.repository import Repository


def place_of_attempts(repository: Repository) -> bytes:
    """The directory that contains the attempts."""
    return os.path.join(repository.common_dir, b"gitckpt-attempts")


def output_of(repository: Repository, session: str) -> bytes:
    """The file that holds what an attempt printed."""
    return os.path.join(place_of_attempts(repository), os.fsencode(f"{session}.output"))


class Attempts:
    """The work trees of one fork. A context manager that holds the lock which marks them as in use."""

    def __init__(self, repository: Repository, fork: str) -> None:
        self._repository, self._fork = repository, os.fsencode(fork)
        self._descriptor = -1

    def __enter__(self) -> Attempts:
        os.makedirs(place_of_attempts(self._repository), exist_ok=True)
        self._descriptor = lock_file(self._lock())
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        return self

    def __exit__(self, *ending: object) -> None:
        os.unlink(self._lock())
        os.close(self._descriptor)

    def _lock(self) -> bytes:
        return os.path.join(place_of_attempts(self._repository), self._fork + b".lock")

    def path(self, session: str) -> bytes:
        """The path of the work tree of an attempt."""
        return os.path.join(place_of_attempts(self._repository), os.fsencode(session))

    def add(self, session: str, commit: str) -> None:
        """Create a work tree with a detached HEAD at this commit. Raise GitFailed."""
        self._repository.git.run("worktree", "add", "--quiet", "--detach", "--", self.path(session), commit)


def remove_attempt(repository: Repository, path: bytes) -> None:
    """Remove a work tree and everything in it, even if git had not finished creating it."""
    # `worktree prune` would also remove the user's work trees whose disk is not mounted at the moment
    repository.git.run("worktree", "remove", "--force", "--force", "--", path, ok=(0, 128))
    clear(path)
    clear(_linked(repository, os.path.basename(path)))


def left_attempts(repository: Repository) -> list[bytes]:
    """Return the work trees left by forks that died, including those that git was killed while creating, and those that
    could not be put on record. A work tree that was meant to stay has neither lock nor mark, and is not included."""
    place, names = place_of_attempts(repository), _names(repository)
    dead = _dead(place, names)
    known = {*names, *(name for fork in dead for name in _linked_of(repository, fork))}
    unrecorded = {name.removesuffix(LEFT) for name in names if name.endswith(LEFT)}
    left = {name for name in known if name.rpartition(b"-")[0] in dead and b"." not in name} | unrecorded
    return [os.path.join(place, name) for name in sorted(left) if _is_there(repository, place, name)]


def mark_left(repository: Repository, path: bytes) -> None:
    """Mark a work tree that stays although it was meant to be removed, so that it can be found. If the mark cannot be
    written, the work tree stays all the same."""
    try:
        with open(path + LEFT, "wb"):
            pass
    except OSError:
        pass


def sweep(repository: Repository, sessions: Collection[str]) -> None:
    """Remove the locks and marks of work trees that are gone, and the output of attempts that are not among these
    sessions."""
    place, names = place_of_attempts(repository), _names(repository)
    left = {os.path.basename(path) for path in left_attempts(repository)}
    needed = {name.rpartition(b"-")[0] for name in left}
    gone = [fork + b".lock" for fork in _dead(place, names) - needed]
    gone += [name for name in names if name.endswith(LEFT) and name.removesuffix(LEFT) not in left]
    gone += [
        name for name in names
        if name.endswith(b".output") and os.fsdecode(name.removesuffix(b".output")) not in sessions
    ]  # fmt: skip
    for name in gone:
        os.unlink(os.path.join(place, name))


def _names(repository: Repository) -> list[bytes]:
    try:
        return sorted(os.listdir(place_of_attempts(repository)))
    except OSError:
        return []


def _dead(place: bytes, names: Iterable[bytes]) -> set[bytes]:
    """The forks whose lock file exists but is not held."""
    return {name.removesuffix(b".lock") for name in names if name.endswith(b".lock") and _is_free(place, name)}


def _linked(repository: Repository, name: bytes) -> bytes:
    """The directory in which git keeps its data about such a work tree."""
    return os.path.join(repository.common_dir, b"worktrees", name)


def _linked_of(repository: Repository, fork: bytes) -> list[bytes]:
    try:
        names = os.listdir(os.path.join(repository.common_dir, b"worktrees"))
    except OSError:
        return []
    return [name for name in names if name.rpartition(b"-")[0] == fork]


def _is_there(repository: Repository, place: bytes, name: bytes) -> bool:
    return os.path.lexists(os.path.join(place, name)) or os.path.lexists(_linked(repository, name))


def _is_free(place: bytes, name: bytes) -> bool:
    """Return whether the lock file exists and no process holds the lock."""
    try:
        descriptor = os.open(os.path.join(place, name), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
