"""The file status of many paths."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

#: The directory is not listed, so search permission is enough.
_OPEN = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC

#: Number of consecutive paths in one directory from which on opening it is cheaper than resolving each path.
_FEW = 3


def statuses(root: bytes, paths: Iterable[bytes]) -> dict[bytes, os.stat_result]:
    """Return the status of each of the paths below `root` that exists, not following links; fastest if they are
    sorted."""
    found: dict[bytes, os.stat_result] = {}
    stat, directory, descriptor, in_a_row = os.stat, b"", -1, 0
    try:
        for path in paths:
            parent, _, name = path.rpartition(b"/")
            if parent == directory:
                in_a_row += 1
                if in_a_row == _FEW:
                    descriptor = _opened(root + b"/" + parent)
            else:
                directory, in_a_row = parent, 1
                descriptor = _closed(descriptor)
            try:
                if descriptor < 0:
                    found[path] = stat(root + b"/" + path, follow_symlinks=False)
                else:
                    found[path] = stat(name, dir_fd=descriptor, follow_symlinks=False)
            except OSError:
                continue
    finally:
        _closed(descriptor)
    return found


def _opened(directory: bytes) -> int:
    """Return a descriptor; -1 if the directory cannot be opened, so that its paths are resolved one by one."""
    try:
        return os.open(directory, _OPEN)
    except OSError:
        return -1


def _closed(descriptor: int) -> int:
    if descriptor >= 0:
        os.close(descriptor)
    return -1
