"""Shared by `push`, `fetch`, `promote` and `bisect`: an orderly exit when a signal ends the command."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

#: The signals by which a shell, a service or a closed terminal ends a command.
ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ending_by_signal() -> Iterator[None]:
    """Turn these signals into SystemExit, so that the processes we started and scratch directories are cleaned up."""
    before = {number: signal.getsignal(number) for number in ENDING}
    for number, handler in before.items():
        if handler is signal.SIG_DFL:
            signal.signal(number, _end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
