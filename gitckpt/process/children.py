"""Notices when children end, and adopts orphaned descendants."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans(adopt: bool = True) -> None:
    """Become the parent of every descendant that loses its own parent, on systems that support it (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0)


def wake_on_child() -> tuple[int, int]:
    """Return the read and write ends of a pipe that becomes readable when a child changes state."""
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    signal.set_wakeup_fd(theirs, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    return ours, theirs
