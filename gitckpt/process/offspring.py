"""Ends everything that we have started, directly or indirectly, when we are told to end."""

from __future__ import annotations

import os
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gitckpt.process.children import adopt_orphans
from gitckpt.process.tree import descendants, process_table, send

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitckpt.process.tree import Process

#: How many seconds a process gets to end once it was told to, and the seconds between two looks at the remaining ones.
PATIENCE = 5.0
_MOMENT = 0.02


@contextmanager
def none_outliving() -> Iterator[None]:
    """If the block is left by an exception, usually a signal or Ctrl-C, terminate every process started in it, and kill
    those that do not end. That includes processes that have left their parent, on systems that report them (Linux).

    If all goes well no process is touched: a daemon may be meant to stay.
    """
    before = {row.pid for row in _living()}
    adopt_orphans()
    try:
        yield
    except BaseException:
        _end_all_but(before)
        raise
    finally:
        adopt_orphans(False)


def _living() -> list[Process]:
    return [row for row in descendants(process_table(), os.getpid()) if not row.is_dead]


def _end_all_but(before: set[int]) -> None:
    """Terminate all at once; then kill those that are left, repeatedly, because a process may have forked just before
    it was killed. Give up after a while on processes of other users, or stuck in the kernel."""
    begun, told = time.monotonic(), set[int]()
    while (left := {row.pid for row in _living()} - before) and time.monotonic() < begun + 2 * PATIENCE:
        if time.monotonic() < begun + PATIENCE:
            send(left - told, signal.SIGTERM)
        else:
            send(left, signal.SIGKILL)
        told |= left
        time.sleep(_MOMENT)
