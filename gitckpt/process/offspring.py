"""All that we have started, and all that it has started: ended with us when we are told to end."""

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

#: Seconds that a process has to end in once it was told to, and between two looks at those that have to.
PATIENCE = 5.0
_MOMENT = 0.02


@contextmanager
def none_outliving() -> Iterator[None]:
    """Where it is left by an exception, a signal's or Ctrl-C's most often, everybody whom we have started meanwhile is
    told to end, and killed if he does not; also who has left his parent, where the system tells us of those (Linux).

    Where all goes well nobody is told anything: a daemon may be meant to stay."""
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
    """Tell all to end at once; kill who is left, again and again, for who is being killed may just have started
    somebody. Another user's, or who waits in the kernel, is given up after a while."""
    begun, told = time.monotonic(), set[int]()
    while (left := {row.pid for row in _living()} - before) and time.monotonic() < begun + 2 * PATIENCE:
        if time.monotonic() < begun + PATIENCE:
            send(left - told, signal.SIGTERM)
        else:
            send(left, signal.SIGKILL)
        told |= left
        time.sleep(_MOMENT)
