"""File descriptors: closed standard streams, those that a helper process must close, and writes that do not block."""

from __future__ import annotations

import os
import stat
import struct
from typing import Final

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

#: The size of a pipe in bytes: as much as Linux grants any user.
ROOM: Final = 1 << 20


def plug_standard() -> list[int]:
    """Open the null device in place of each of 0, 1, 2 that is closed, and return which those were.

    Otherwise the next pipe that we create would become some process's standard output.
    """
    plugged = [descriptor for descriptor in (0, 1, 2) if not is_open(descriptor)]
    for _ in plugged:
        os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
    return plugged


def is_open(descriptor: int) -> bool:
    """Return whether the number is an open file descriptor."""
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def close_all(descriptors: Collection[int]) -> None:
    """Close these descriptors; closed ones are no error."""
    for descriptor in descriptors:
        try:
            os.close(descriptor)
        except OSError:
            pass


def close_all_but(kept: Collection[int]) -> None:
    """Close all other descriptors, so that a process of ours does not keep someone else's pipe open. Standard streams
    that get closed become the null device."""
    close_all([int(name) for name in os.listdir("/dev/fd") if int(name) not in kept])
    plug_standard()


def without_blocking(descriptor: int) -> int:
    """Return a descriptor for the same pipe or terminal on which a write never blocks, or a plain copy if the system
    has none.

    O_NONBLOCK on the original would affect every process that shares it, including our shell; reopening it does not.
    """
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISFIFO(kind) or os.isatty(descriptor):
        try:
            return os.open(f"/proc/self/fd/{descriptor}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError:
            pass
    return os.dup(descriptor)


def widen(pipe: int) -> None:
    """Enlarge a pipe, as far as the system allows.

    A writer that is stopped while it waits for room gets a short write when it continues, and some writers do not check
    for that: an unbuffered Python loses the rest.
    """
    import fcntl

    try:
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, ROOM)
    except (AttributeError, OSError):  # another system, or this user's pipe quota is used up
        pass


def waiting_bytes(descriptor: int) -> int:
    """Return how many bytes can be read at once."""
    import fcntl
    import termios

    try:
        answer = fcntl.ioctl(descriptor, termios.FIONREAD, b"\0" * 4)
    except OSError:
        return 0
    return int(struct.unpack("i", answer)[0])
