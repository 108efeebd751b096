"""What `push`, `fetch`, `promote` and `bisect` have in common: they end in order when they are told to end."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

#: What a shell, a service or a closed terminal sends to end a command.
ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ending_by_signal() -> Iterator[None]:
    """Take what we have started along when a signal ends us, and scratch directories."""
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
