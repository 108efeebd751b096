"""The lock on one work tree: recording, rollback and undo take turns.

The kernel holds it (`flock`) and lets go when its owner dies, however it dies, and with it the last git that it
started: a checkout that outlives a killed gitckpt still writes. The owner's pid is in the file for messages."""

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

#: Seconds after which a waiting command says so.
SILENCE = 2.0

#: Seconds that a lock file without an owner in it, left beside our index by a git of ours, may still belong to a living
#: one.
YOUNG = 10.0


class WorkTreeLock:
    """A context manager around the lock file `directory/lock`. May be entered again by its owner.

    `make` makes the directory where it is gone; `mend` is called where the owner before died without letting go.
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
            # a daemon that a git left behind may have it open too: closing it here would not let go
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            os.close(self._descriptor)

    @property
    def descriptor(self) -> int:
        """What holds it as long as any process has it open; negative where it is not held."""
        return self._descriptor if self._depth > 0 else -1

    @property
    def held(self) -> bool:
        """Whether this process holds it."""
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


#: What only a process at work has: a scratch directory, copies of the user's index, a shared index being written.
PASSING = (b"rules", b"intended", b"written.", b"sharedindex_")

#: What a living process, though it does not hold the lock, may be writing: files on their way to their place.
WRITTEN = b"write-"

#: Files of ours of which a killed process may leave a lock, or a copy as older versions called it: `index.lock`,
#: `scan.json.4711`.
OURS = (b"HEAD", b"config", b"index", b"staging", b"scratch", b"scan.json", b"packed-refs")


LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def lock_file(path: bytes) -> int:
    """The lock file, opened; what else may stand there is not followed, and gives way."""
    if not is_plain_file(path):
        clear(path)
    try:
        return os.open(path, LOCK_FLAGS, 0o644)
    except PermissionError:
        return _lock_file_made_writable(path)


def _lock_file_made_writable(path: bytes) -> int:
    """The same file and no new one: somebody may hold the lock on it."""
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

    These name no owner, and a young one may have a living one for a moment.
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
    """Take away a lock on the user's index that a killed gitckpt holds: it is the very file of our copy."""
    try:
        if os.path.samefile(copy, lock):
            os.unlink(lock)
    except FileNotFoundError:
        return


def break_lock(path: bytes) -> None:
    """Remove a lock file that a killed git has left; a young one is given time to go by itself."""
    deadline = time.monotonic() + 2.0
    while _is_young(path) and time.monotonic() < deadline:
        time.sleep(0.05)
    clear(path)


def _is_young(path: bytes) -> bool:
    try:
        return abs(time.time() - os.lstat(path).st_mtime) < YOUNG
    except FileNotFoundError:
        return False
