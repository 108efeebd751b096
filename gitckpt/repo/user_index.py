"""Write the user's staging area: git works on a copy, which then replaces the index atomically.

Git's own lock on the index, `index.lock`, is taken by giving the finished copy that name. So a process that dies at any
moment leaves either the old or the new index, and a lock that is recognizably ours, because it is the same file as the
copy (`gitckpt.repo.lock`)."""

from __future__ import annotations

import os
import time

from gitckpt.errors import GitFailed
from gitckpt.repo.index_file import copy_index, stat_key
from gitckpt.repo.private import clear

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from gitckpt.repo.gateway import Git
    from gitckpt.repo.repository import Repository

#: Seconds to wait for a lock of the user's on the staging area before writing it.
INDEX_PATIENCE = 2.0


class UserIndex:
    """A context manager that returns git, as the user has configured it, working on a copy of the user's index.

    When the block ends, what git changed there is in the user's index. Raises GitFailed, with the index unchanged, if
    the user or their git is working on it. The caller holds the work tree's lock.
    """

    def __init__(self, repository: Repository, patience: float = INDEX_PATIENCE) -> None:
        self._repository, self._patience = repository, patience
        self._index = os.path.realpath(repository.index_path)
        self._copy = os.path.join(repository.private_dir, b"written.%d" % os.getpid())

    def __enter__(self) -> Git:
        self._before = stat_key(self._index)
        clear(self._copy)
        if copy_index(self._index, self._copy):
            os.chmod(self._copy, os.stat(self._index).st_mode & 0o777)
        self._copied = stat_key(self._copy)
        return self._repository.user_git().view(GIT_INDEX_FILE=self._copy)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None and stat_key(self._copy) != self._copied:
                self._publish()
        finally:
            clear(self._copy)
            clear(self._copy + b".lock")  # left by a git that was stopped

    def _publish(self) -> None:
        lock = self._index + b".lock"
        self._take(lock)
        try:
            if stat_key(self._index) != self._before:
                raise GitFailed("the staging area was changed while it was being put back", "run the command again")
            os.replace(lock, self._index)
        except BaseException:
            os.unlink(lock)
            raise

    def _take(self, lock: bytes) -> None:
        deadline = time.monotonic() + self._patience
        while not _name(self._copy, lock):
            if time.monotonic() > deadline:
                raise GitFailed(
                    f"the staging area cannot be written: {os.fsdecode(lock)!r} says that git is at work on it",
                    "wait for that git to end, and run the command again",
                )
            time.sleep(0.05)


def _name(copy: bytes, lock: bytes) -> bool:
    """Give the copy a second name; return False if that name is taken."""
    try:
        os.link(copy, lock)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        return _write_new(copy, lock)
    return True


def _write_new(copy: bytes, lock: bytes) -> bool:
    try:
        descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        return False
    with open(copy, "rb") as reader, open(descriptor, "wb") as writer:
        while piece := reader.read(1 << 20):
            writer.write(piece)
    return True
