"""Histories to display, written down event by event. A list must never read the document of these events."""

from __future__ import annotations

from typing import Any

from gitckpt.trajectory.events import Event
from gitckpt.trajectory.session import Session

SESSION = "20261130-024512-k3f9"
ROOT = "0" * 40


def _must_not_read(text: str) -> dict[str, Any]:
    raise AssertionError("a list read the document of an event")


class History:
    """Builds a session: each event follows the previous one on its line, or `after` an event where a line begins."""

    def __init__(self, session: str = SESSION) -> None:
        self.id = session
        self.events: list[Event] = []
        self.tips: dict[str, str] = {}

    def add(
        self, kind: str, id: str | None = None, said: str = "", *, line: str = "main", after: Event | None = None,
        phase: str = "", next: str = "", **more: Any,
    ) -> Event:  # fmt: skip
        """Record one event; its time counts up with the events unless `at` is given, and its document cannot be
        read.
        """
        seq = len(self.events) + 1
        minutes, seconds = divmod(seq, 60)
        clock = f"{2 + (45 + minutes) // 60:02}:{(45 + minutes) % 60:02}:{seconds:02}"
        name = f"{id} " if id else f"{kind} "
        subject = f"{name}{phase}: {said}" if phase else f"{name.rstrip()}: {said}"
        parent = after.commit if after else self.tips.get(line, ROOT)
        header: dict[str, Any] = {
            "session": self.id, "seq": seq, "at": f"2026-11-30T{clock}.000000Z",
            "subject": subject, "commit": f"{int(self.id[-4:], 36):08x}{seq:032x}", "parents": (parent,),
            "written": id or "", "load": _must_not_read,
        } | more  # fmt: skip
        event = Event(kind=kind, id=id, line=line, phase=phase, next=next, **header)
        self.events.append(event)
        self.tips[line] = event.commit
        return event

    def open(self, line: str, at: Event) -> None:
        """Open a line that has no event yet."""
        self.tips[line] = at.commit

    @property
    def session(self) -> Session:
        return Session(self.id, self.events, self.tips)
