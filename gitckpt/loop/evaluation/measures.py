"""Measures one run while it runs: the errors before and after each reset, and what the model knew at that point."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from gitckpt.loop.conversation import Observer

if TYPE_CHECKING:
    from gitckpt.loop.conversation import Conversation
    from gitckpt.loop.endpoint import Message
    from gitckpt.loop.stream import Call

#: Calls that the host refuses by its own rules do not count as errors.
RULED: Final = ("checkpoint", "reset")


class Measures(Observer):
    """Watches a run. An error is a failed call. It recurs if the same call, with the same arguments, fails again after
    a later reset."""

    def __init__(self) -> None:
        self.conversation: Conversation | None = None
        self.context: list[Message] = []
        self._known: set[str] = set()
        self._new: set[str] = set()
        self._recurred: set[str] = set()
        self.failed_calls = 0

    @property
    def errors_before_reset(self) -> int:
        """The number of different errors that could recur: those made before the last reset."""
        return len(self._known)

    @property
    def errors_recurred(self) -> int:
        """The number of those errors that did recur."""
        return len(self._recurred)

    def answered(self, call: Call, text: str, ok: bool) -> None:
        """Note an error."""
        if ok or call.name in RULED:
            return
        self.failed_calls += 1
        error = _signature(call)
        if error in self._known:
            self._recurred.add(error)
        self._new.add(error)

    def reset(self, forced: bool) -> None:
        """Keep what the model knows from here on."""
        self._known |= self._new
        self._new.clear()
        if self.conversation is not None:
            self.context = list(self.conversation.messages)


def _signature(call: Call) -> str:
    """Return a key that is the same for equal calls, however their arguments are laid out."""
    try:
        arguments = json.dumps(json.loads(call.arguments or "{}"), sort_keys=True)
    except (ValueError, RecursionError):
        arguments = call.arguments
    return f"{call.name} {arguments}"
