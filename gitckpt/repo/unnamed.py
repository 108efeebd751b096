"""Files without a name, for what goes into a process and comes out of it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def unnamed_file() -> int:
    """Return a file descriptor of an empty file without a name, in memory if the system supports that."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("gitckpt", os.MFD_CLOEXEC)
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def contents(descriptor: int) -> bytes:
    """Return everything written to an unnamed file so far, and close it."""
    try:
        size = os.fstat(descriptor).st_size
        return os.pread(descriptor, size, 0) if size < 1 << 30 else b"".join(_pieces(descriptor, size))
    finally:
        os.close(descriptor)


def _pieces(descriptor: int, size: int) -> Iterator[bytes]:
    for offset in range(0, size, 1 << 30):
        yield os.pread(descriptor, 1 << 30, offset)


def filled(data: bytes) -> int:
    """Return a file descriptor from which the data can be read."""
    if not data:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    descriptor = unnamed_file()
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
