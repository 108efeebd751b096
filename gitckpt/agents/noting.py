"""For a client that notes its hook calls in its session file: find out how far that file lags behind a call."""

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
    """One hook call, and the session file at `path` beyond `place`. There is no waiting for a call after a tool: what
    is written later is read at the next call."""

    def __init__(self, file: SessionFile, call: Hooked, path: str, place: str) -> None:
        self._call, self._path = call, path
        self._waits = call.kind in ("before", "turn", "closed") and not call.subagent
        self._notes, self._was_noted = self._read_back(file, place) if self._waits else (False, False)

    def _read_back(self, file: SessionFile, place: str) -> tuple[bool, bool]:
        """Return whether any call is noted before the place, and whether this one is: the hooks of tools that run in
        parallel are noted together. A note about a tool call that has ended belongs to another hook call."""
        end = offset_of(place)
        if not end:
            return False, False
        signals = read_session(file, self._path, place=str(max(end - LOOKED_BACK, 0))).signals
        return any(isinstance(signal, Called) for signal in signals), self.came(signals)

    def came(self, signals: Sequence[Signal]) -> bool:
        """Return whether the call is noted in what was read; then everything said before it is there too."""
        ended = {signal.call for signal in signals if isinstance(signal, Boundary) and signal.kind == "after"} - {""}
        noted = [signal for signal in signals if isinstance(signal, Called) and signal.is_of(self._call.called)]
        return any(called.tool_call not in ended for called in noted)

    def is_due(self, signals: Sequence[Signal]) -> bool:
        """Return whether the client notes such calls, and has yet to note this one."""
        if not self._waits or self._was_noted or self.came(signals):
            return False
        return self._notes or any(isinstance(signal, Called) for signal in signals) or self._is_to_be_made()

    def _is_to_be_made(self) -> bool:
        """Return whether the client has created the directory of its session file, but not the file: so it is before
        its first tool."""
        room = os.path.dirname(self._path)
        return self._call.kind == "before" and not os.path.lexists(self._path) and os.path.isdir(room)
