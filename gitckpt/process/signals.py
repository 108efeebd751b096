"""Signals that reach us while an agent runs: noted at once, acted on one after the other, and not while a checkpoint is
made.
"""

from __future__ import annotations

import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType
    from typing import Any

#: A reader that goes away shall be an error of the write, and an ended child shall wait for us to look.
FIXED = ((signal.SIGPIPE, signal.SIG_IGN), (signal.SIGCHLD, signal.SIG_DFL))


class Signals:
    """Takes over the handlers of some signals; `act(number, late)` is called for each, `late` if it had to wait.

    What was ignored when we came, as HUP is under nohup, stays ignored, INT and QUIT apart: shells ignore them for any
    job that they start in the background, and a signal that is sent to us by name is meant.
    """

    def __init__(self, act: Callable[[int, bool], None]) -> None:
        self._act = act
        self._noted: list[tuple[int, bool]] = []
        self._held = self._acting = False
        self._before: list[tuple[int, Any]] = []

    def install(self, numbers: Iterable[int]) -> None:
        """Take over these, for the main thread."""
        for number in numbers:
            if signal.getsignal(number) != signal.SIG_IGN or number in (signal.SIGINT, signal.SIGQUIT):
                self._set(number, self._note)
        for number, handler in FIXED:
            self._set(number, handler)

    def _set(self, number: int, handler: Any) -> None:
        self._before.append((number, signal.getsignal(number)))
        signal.signal(number, handler)

    def restore(self) -> None:
        """Put the handlers back that were there before."""
        for number, handler in reversed(self._before):
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self._before.clear()

    def hold(self) -> None:
        """Only note what comes, until `release`."""
        self._held = True

    def release(self) -> None:
        """Act on what was noted, and on what comes, from now on."""
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
