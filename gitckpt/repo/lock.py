"""The lock on one work tree: recording, rollback and undo take turns.

The kernel holds it (`flock`) and releases it when its owner has died, however it died, and the last git that it started
has ended too: a checkout that outlives a killed gitckpt still writes. The file contains the owner's pid, for
messages."""

from __future__ import annotations

import fcntl
import os
import time

from gitckpt.errors import Refused
from gitckpt.repo.private import ASIDE, clear, clear_abandoned, is_plain_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

#: Seconds to wait for another gitckpt in the same work tree.
PATIENCE = 120.0

#: Seconds after which a waiting command prints that it is waiting.
SILENCE = 2.0

#: Seconds for which a lock file that names no owner, left beside our index by one of our git processes, may still
#: belong to a living one.
YOUNG = 10.0


class WorkTreeLock:
    """A context manager for the lock file `directory/lock`. Its owner may enter it again.

    `make` creates the directory if it is gone; `mend` is called if the previous owner died without releasing the lock.
    """

    def __init__(
        self,
        directory: bytes,
        say: Callable[[str], None] | None = None,
        make: Callable[[], object] | None = None,
        mend: Callable[[], object] | None = None,
    ) -> None:
        self._directory, self._say, self._make, self._mend = directory, say, make, mend
        self._descriptor = -1
        self._depth = 0

    def __enter__(self) -> WorkTreeLock:
        if self._depth == 0:
            if self._make is not None and not os.path.isdir(self._directory):
                self._make()
            self._descriptor = lock_file(os.path.join(self._directory, b"lock"))
            try:
                self._wait()
                self._take_over()
            except BaseException:
                os.close(self._descriptor)
                raise
        self._depth += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            os.ftruncate(self._descriptor, 0)
            # a daemon that a git left behind may have it open too, so closing it here would not release the lock
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            os.close(self._descriptor)

    @property
    def descriptor(self) -> int:
        """The descriptor that holds the lock as long as any process has it open; negative if it is not held."""
        return self._descriptor if self._depth > 0 else -1

    @property
    def held(self) -> bool:
        """Whether this process holds the lock."""
        return self._depth > 0

    def _take_over(self) -> None:
        died = os.pread(self._descriptor, 1, 0) != b""
        _tidy(self._directory)
        if died and self._mend is not None:
            self._mend()
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, b"%d\n" % os.getpid(), 0)

    def _wait(self) -> None:
        start, told = time.monotonic(), False
        while not self._try():
            waited = time.monotonic() - start
            if waited > PATIENCE:
                raise Refused(
                    f"{self._owner()} has been at work in this work tree for {waited:.0f} s", "wait for it, or stop it"
                )
            if waited > SILENCE and not told and self._say:
                self._say(f"waiting for {self._owner()}, which is at work in this work tree")
                told = True
            time.sleep(0.002 if waited < 0.1 else 0.02)

    def _try(self) -> bool:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _owner(self) -> str:
        pid = os.pread(self._descriptor, 20, 0).strip().decode("ascii", "replace")
        return f"gitckpt (pid {pid})" if pid else "another gitckpt"


#: Name prefixes of what exists only while a process works: scratch directories, copies of the user's index, a shared
#: index being written.
PASSING = (b"rules", b"intended", b"written.", b"sharedindex_")

#: Name prefix of what a living process may be writing even without the lock: files on the way to their place.
WRITTEN = b"write-"

#: Files of ours for which a killed process may leave a lock, or a copy named as in older versions: `index.lock`,
#: `scan.json.4711`.
OURS = (b"HEAD", b"config", b"index", b"staging", b"scratch", b"scan.json", b"packed-refs")


LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def lock_file(path: bytes) -> int:
    """Open the lock file. Anything else at the path is not followed, and is replaced."""
    if not is_plain_file(path):
        clear(path)
    try:
        return os.open(path, LOCK_FLAGS, 0o644)
    except PermissionError:
        return _lock_file_made_writable(path)


def _lock_file_made_writable(path: bytes) -> int:
    """Make the existing file writable and open it. It must not be replaced, because another process may hold the lock
    on it."""
    try:
        os.chmod(path, 0o644)
        return os.open(path, LOCK_FLAGS, 0o644)
    except OSError as error:
        raise Refused(
            f"the lock file {os.fsdecode(path)!r} cannot be opened: {error.strerror}",
            "it is another user's, who records this work tree: git worktree add ../NAME makes one of your own",
        ) from error


def _is_left_over(name: bytes) -> bool:
    base, _, ending = name.rpartition(b".")
    return (base in OURS and (ending == b"lock" or ending.isdigit())) or name.startswith(PASSING)


def _tidy(directory: bytes) -> None:
    """Remove what killed processes left: temporary files, and lock files of a git child.

    Lock files name no owner, so a recent one may still belong to a living process for a moment.
    """
    for name in os.listdir(directory):
        path = os.path.join(directory, name)
        if name.endswith(ASIDE) or name.startswith(WRITTEN):
            clear_abandoned(path)
        if not _is_left_over(name):
            continue
        if name.startswith(b"written."):
            _release_index(path, os.path.join(os.path.dirname(directory), b"index.lock"))
        elif name.endswith(b".lock"):
            break_lock(path)
        clear(path)


def _release_index(copy: bytes, lock: bytes) -> None:
    """Remove a lock on the user's index that a killed gitckpt left. It is recognized as the same file as our copy."""
    try:
        if os.path.samefile(copy, lock):
            os.unlink(lock)
    except FileNotFoundError:
        return


def break_lock(path: bytes) -> None:
    """Remove a lock file that a killed git left; a recent one is first given time to disappear by itself."""
    deadline = time.monotonic() + 2.0
    while _is_young(path) and time.monotonic() < deadline:
        time.sleep(0.05)
    clear(path)


def _is_young(path: bytes) -> bool:
    try:
        return abs(time.time() - os.lstat(path).st_mtime) < YOUNG
    except FileNotFoundError:
        return False
