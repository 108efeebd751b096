"""File descriptors: the standard three that may be closed, those that a helper process must let go, writes that do not
block.
"""

from __future__ import annotations

import os
import stat
import struct
from typing import Final

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

#: Bytes of room in a pipe: as much as Linux gives to any user.
ROOM: Final = 1 << 20


def plug_standard() -> list[int]:
    """Open the null device in place of each of 0, 1, 2 that is closed, and say which those were.

    Else the next pipe that we make would become somebody's standard output.
    """
    plugged = [descriptor for descriptor in (0, 1, 2) if not is_open(descriptor)]
    for _ in plugged:
        os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
    return plugged


def is_open(descriptor: int) -> bool:
    """Whether the number stands for an open file."""
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def close_all(descriptors: Collection[int]) -> None:
    """Close these; closed ones are no error."""
    for descriptor in descriptors:
        try:
            os.close(descriptor)
        except OSError:
            pass


def close_all_but(kept: Collection[int]) -> None:
    """Close everything else, so that a process of ours keeps nobody's pipe open; the standard three become the null
    device.
    """
    close_all([int(name) for name in os.listdir("/dev/fd") if int(name) not in kept])
    plug_standard()


def without_blocking(descriptor: int) -> int:
    """A descriptor for the same pipe or terminal on which a write never blocks, or just a copy where the system has no
    such thing.

    O_NONBLOCK on the one we were given would be set for everybody who shares it, our shell included; opening it anew is
    not.
    """
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISFIFO(kind) or os.isatty(descriptor):
        try:
            return os.open(f"/proc/self/fd/{descriptor}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError:
            pass
    return os.dup(descriptor)


def widen(pipe: int) -> None:
    """Make room in a pipe, as far as the system allows.

    A writer that is stopped while it waits for room is told, when it goes on, that only a part was written, and some
    writers do not look at that: an unbuffered Python loses the rest.
    """
    import fcntl

    try:
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, ROOM)
    except (AttributeError, OSError):  # another system, or no more room for this user
        pass


def waiting_bytes(descriptor: int) -> int:
    """How many bytes can be read at once."""
    import fcntl
    import termios

    try:
        answer = fcntl.ioctl(descriptor, termios.FIONREAD, b"\0" * 4)
    except OSError:
        return 0
    return int(struct.unpack("i", answer)[0])
