"""Report long operations on a terminal, mostly the first snapshot of a large tree."""

from __future__ import annotations

import sys
import time

from gitckpt.cli import render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Event
    from typing import TypeVar

    Result = TypeVar("Result")

#: Seconds before the first message, and between two messages.
PATIENCE = 1.0


def while_telling(work: Callable[[], Result]) -> Result:
    """Do the work; if it takes over a second and there is a terminal, report the elapsed time there until it is
    done.
    """
    if not render.is_terminal(sys.stderr):
        return work()
    from threading import Event, Thread

    done = Event()
    teller = Thread(target=_tell, args=(done,), daemon=True)
    teller.start()
    try:
        return work()
    finally:
        done.set()
        teller.join()


def _tell(done: Event) -> None:
    start, told = time.monotonic(), False
    while not done.wait(PATIENCE):
        told = True
        _write(f"\rgitckpt: reading the work tree, {time.monotonic() - start:.0f} s")
    if told:
        _write("\r\x1b[K")


def _write(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        return  # nobody is watching any more, which does not affect the work
