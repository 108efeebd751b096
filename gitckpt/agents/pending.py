"""Tool calls that have begun and not ended. A result names its call but not its tool."""

from __future__ import annotations

from typing import Final

from gitckpt.agents.signals import Boundary

#: The maximum number of calls in progress; beyond it, the oldest are forgotten.
_MOST: Final = 1000


class PendingCalls:
    """Remembers what the end of a call does not repeat."""

    def __init__(self) -> None:
        self._begun: dict[str, Boundary] = {}

    def begin(self, call: str, tool: str, paths: tuple[str, ...] = ()) -> Boundary:
        """Return the boundary before a call."""
        before = Boundary("before", tool, call, paths=paths)
        self._begun[call] = before
        if len(self._begun) > _MOST:
            del self._begun[next(iter(self._begun))]
        return before

    def end(self, call: str, tool: str = "", *, failed: bool = False, paths: tuple[str, ...] = ()) -> Boundary:
        """Return the boundary after a call. Values that are not given are taken from its beginning."""
        before = self._begun.pop(call, Boundary("before"))
        return Boundary("after", tool or before.tool, call, failed, paths or before.paths)
