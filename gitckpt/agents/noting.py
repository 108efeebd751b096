"""A client that notes in its record of a session which hooks it calls: how far the record is behind with one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gitckpt.agents.line_place import LOOKED_BACK, offset_of
from gitckpt.agents.session_file import read_session
from gitckpt.agents.signals import Boundary, Called

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitckpt.agents.hook import Hooked
    from gitckpt.agents.session_file import SessionFile
    from gitckpt.agents.signals import Signal


class Noting:
    """One call of a hook, and the record at `path` beyond `place`. A call after a tool is not waited for: what is
    written down behind it is read the next time."""

    def __init__(self, file: SessionFile, call: Hooked, path: str, place: str) -> None:
        self._call, self._path = call, path
        self._waits = call.kind in ("before", "turn", "closed") and not call.subagent
        self._notes, self._was_noted = self._read_back(file, place) if self._waits else (False, False)

    def _read_back(self, file: SessionFile, place: str) -> tuple[bool, bool]:
        """Whether any call is noted before the place, and this one: the hooks before tools that run side by side are
        noted at once. One about a tool call that has ended is another."""
        end = offset_of(place)
        if not end:
            return False, False
        signals = read_session(file, self._path, place=str(max(end - LOOKED_BACK, 0))).signals
        return any(isinstance(signal, Called) for signal in signals), self.came(signals)

    def came(self, signals: Sequence[Signal]) -> bool:
        """Whether the call stands in what was read: all that was said before it does then, too."""
        ended = {signal.call for signal in signals if isinstance(signal, Boundary) and signal.kind == "after"} - {""}
        noted = [signal for signal in signals if isinstance(signal, Called) and signal.is_of(self._call.called)]
        return any(called.tool_call not in ended for called in noted)

    def is_due(self, signals: Sequence[Signal]) -> bool:
        """Whether the client notes such calls, and this one is still to come."""
        if not self._waits or self._was_noted or self.came(signals):
            return False
        return self._notes or any(isinstance(signal, Called) for signal in signals) or self._is_to_be_made()

    def _is_to_be_made(self) -> bool:
        """Whether the client has made room for its record, and not yet the record: that is so before its first tool."""
        room = os.path.dirname(self._path)
        return self._call.kind == "before" and not os.path.lexists(self._path) and os.path.isdir(room)
