"""Signals that reach us while an agent runs: noted at once, handled one after another, but not during a checkpoint."""

from __future__ import annotations

import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType
    from typing import Any

#: Fixed dispositions: writing to a closed pipe must fail with an error, and an ended child must wait until we reap it.
FIXED = ((signal.SIGPIPE, signal.SIG_IGN), (signal.SIGCHLD, signal.SIG_DFL))


class Signals:
    """Takes over the handlers of some signals. `act(number, late)` is called for each, `late` if it had to wait.

    Signals that were ignored when we started stay ignored, such as HUP under nohup, except INT and QUIT: shells ignore
    those for every background job, and such a signal sent to us directly is meant for us.
    """

    def __init__(self, act: Callable[[int, bool], None]) -> None:
        self._act = act
        self._noted: list[tuple[int, bool]] = []
        self._held = self._acting = False
        self._before: list[tuple[int, Any]] = []

    def install(self, numbers: Iterable[int]) -> None:
        """Take over these signals; call it from the main thread."""
        for number in numbers:
            if signal.getsignal(number) != signal.SIG_IGN or number in (signal.SIGINT, signal.SIGQUIT):
                self._set(number, self._note)
        for number, handler in FIXED:
            self._set(number, handler)

    def _set(self, number: int, handler: Any) -> None:
        self._before.append((number, signal.getsignal(number)))
        signal.signal(number, handler)

    def restore(self) -> None:
        """Restore the previous handlers."""
        for number, handler in reversed(self._before):
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self._before.clear()

    def hold(self) -> None:
        """Only note signals, until `release`."""
        self._held = True

    def release(self) -> None:
        """Handle the noted signals, and handle new ones at once from now on."""
        self._held = False
        if self._noted:
            self._act_on_noted()

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self._noted.append((number, self._held))
        self._act_on_noted()

    def _act_on_noted(self) -> None:
        if self._held or self._acting:
            return
        self._acting = True
        try:
            while self._noted:
                self._act(*self._noted.pop(0))
        finally:
            self._acting = False
