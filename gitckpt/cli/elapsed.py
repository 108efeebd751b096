"""Word of what takes long, on a terminal: the first snapshot of a large tree, mostly."""

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

#: Seconds after which a person wonders, and between two words of ours.
PATIENCE = 1.0


def while_telling(work: Callable[[], Result]) -> Result:
    """Do the work; where it takes over a second and there is a terminal, say so there until it is done."""
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
        return  # whoever looked has left, which is no concern of the work
