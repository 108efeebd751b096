"""Opens a file that a client names. A payload may name anything, and opening a FIFO blocks until it has a writer."""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO


def open_regular(path: str) -> BinaryIO:
    """Open a regular file for reading. Raises OSError if there is none, or if the path is anything else."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", path)
    return open(descriptor, "rb")
