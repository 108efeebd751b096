"""Tool calls that have begun and not ended: a result names its call and not its tool."""

from __future__ import annotations

from typing import Final

from gitckpt.agents.signals import Boundary

#: How many calls may be under way; of more, the oldest are forgotten.
_MOST: Final = 1000


class PendingCalls:
    """Remembers of each call what its end does not repeat."""

    def __init__(self) -> None:
        self._begun: dict[str, Boundary] = {}

    def begin(self, call: str, tool: str, paths: tuple[str, ...] = ()) -> Boundary:
        """The boundary before a call."""
        before = Boundary("before", tool, call, paths=paths)
        self._begun[call] = before
        if len(self._begun) > _MOST:
            del self._begun[next(iter(self._begun))]
        return before

    def end(self, call: str, tool: str = "", *, failed: bool = False, paths: tuple[str, ...] = ()) -> Boundary:
        """The boundary after a call. What is not given is as it was at the beginning of the call."""
        before = self._begun.pop(call, Boundary("before"))
        return Boundary("after", tool or before.tool, call, failed, paths or before.paths)
