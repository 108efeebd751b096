"""Work trees for attempts: linked ones of git, in the git directory, where nothing of the user's looks for files.

While a fork is at work it holds a lock beside them; what stands there with a lock that nobody holds was left by one
that died."""

from __future__ import annotations

import fcntl
import os

from gitckpt.repo.lock import lock_file
from gitckpt.repo.private import clear

#: How the name of a mark ends, beside a work tree that stays though it was not to.
LEFT = b".left"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from gitckpt.repo.repository import Repository


def place_of_attempts(repository: Repository) -> bytes:
    """The directory that they stand in."""
    return os.path.join(repository.common_dir, b"gitckpt-attempts")


def output_of(repository: Repository, session: str) -> bytes:
    """The file that holds what an attempt has printed."""
    return os.path.join(place_of_attempts(repository), os.fsencode(f"{session}.output"))


class Attempts:
    """The work trees of one fork. A context manager, which holds the lock that says that they are in use."""

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
        """Where the work tree of an attempt stands."""
        return os.path.join(place_of_attempts(self._repository), os.fsencode(session))

    def add(self, session: str, commit: str) -> None:
        """Make a work tree with its HEAD, detached, at this commit. Raises GitFailed."""
        self._repository.git.run("worktree", "add", "--quiet", "--detach", "--", self.path(session), commit)


def remove_attempt(repository: Repository, path: bytes) -> None:
    """Take a work tree away again, with all that is in it, also one that git had not finished."""
    # `worktree prune` would take those of the user's along whose disk is not there at the moment
    repository.git.run("worktree", "remove", "--force", "--force", "--", path, ok=(0, 128))
    clear(path)
    clear(_linked(repository, os.path.basename(path)))


def left_attempts(repository: Repository) -> list[bytes]:
    """The work trees of forks that have died, also those that git was killed in making, and those that could not be put
    on record; those that were meant to stay have neither lock nor mark, and are not among them."""
    place, names = place_of_attempts(repository), _names(repository)
    dead = _dead(place, names)
    known = {*names, *(name for fork in dead for name in _linked_of(repository, fork))}
    unrecorded = {name.removesuffix(LEFT) for name in names if name.endswith(LEFT)}
    left = {name for name in known if name.rpartition(b"-")[0] in dead and b"." not in name} | unrecorded
    return [os.path.join(place, name) for name in sorted(left) if _is_there(repository, place, name)]


def mark_left(repository: Repository, path: bytes) -> None:
    """Let a work tree be found that stays though it was not to. Where that cannot be, it stays all the same."""
    try:
        with open(path + LEFT, "wb"):
            pass
    except OSError:
        pass


def sweep(repository: Repository, sessions: Collection[str]) -> None:
    """Remove the locks and marks of work trees that are gone, and the output of attempts that are none of these
    sessions any more."""
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
    """The forks that have a lock and hold it no longer."""
    return {name.removesuffix(b".lock") for name in names if name.endswith(b".lock") and _is_free(place, name)}


def _linked(repository: Repository, name: bytes) -> bytes:
    """What git keeps of such a work tree."""
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
    """Whether nobody holds this lock."""
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
