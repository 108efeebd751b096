"""Scratch directories below the system's temporary directory, and cleanup of those that killed processes left."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import time
from contextlib import contextmanager

from gitckpt.repo.live import is_alive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    #: The purpose of a scratch directory.
    Purpose = Literal["scratch", "promote", "blame", "leaks"]

#: The name of a scratch directory: its purpose (any `Purpose`), and the pid of its owner.
NAME = re.compile(r"gitckpt-(?:scratch|promote|blame|leaks)-(\d+)-")

#: Seconds after which a directory whose process is not visible counts as left over; until then, the process may be
#: running in another container.
DAY = 86_400


def make_room(purpose: Purpose) -> bytes:
    """Create a directory that only this user can enter. First remove those that dead processes left at least a day
    ago."""
    for path in _left_over(tempfile.gettempdir()):
        try:
            remove(path)
        except OSError:
            continue  # another process may be removing it
    return os.fsencode(tempfile.mkdtemp(prefix=f"gitckpt-{purpose}-{os.getpid()}-"))


@contextmanager
def room(purpose: Purpose) -> Iterator[bytes]:
    """Like `make_room`, as a context manager that removes the directory at the end."""
    directory = make_room(purpose)
    try:
        yield directory
    finally:
        remove(directory)


def _left_over(directory: str) -> list[bytes]:
    found: list[bytes] = []
    try:
        names = os.listdir(directory)
    except OSError:
        return found
    for name in names:
        owner = NAME.match(name)
        if owner and not is_alive(int(owner[1])) and _is_old_and_ours(path := os.path.join(directory, name)):
            found.append(os.fsencode(path))
    return found


def _is_old_and_ours(path: str) -> bool:
    try:
        status = os.lstat(path)
    except OSError:
        return False
    ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    return ours and time.time() - max(status.st_mtime, status.st_ctime) > DAY


def remove(directory: bytes) -> None:
    """Remove a directory, whatever a command has turned it into: a link to somewhere else, or one that cannot be
    read."""
    if os.path.islink(directory) or os.path.isfile(directory):
        os.unlink(directory)
    elif os.path.lexists(directory):
        try:
            shutil.rmtree(directory)
        except PermissionError:
            _open_up(directory)
            shutil.rmtree(directory)


def _open_up(directory: bytes) -> None:
    os.chmod(directory, 0o700)
    with os.scandir(directory) as found:
        inside = [entry.path for entry in found if entry.is_dir(follow_symlinks=False)]
    for path in inside:
        _open_up(path)
