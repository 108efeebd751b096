"""Sessions built by hand, event by event."""

from __future__ import annotations

from typing import Any

from gitckpt.trajectory.events import Event
from gitckpt.trajectory.session import Session

ROOT = "0" * 40


class Timeline:
    """Builds a session; each event follows the tip of its line."""

    def __init__(self, id: str = "s") -> None:
        self.id = id
        self.events: list[Event] = []
        self.lines: dict[str, str] = {}

    def add(self, kind: str, id: str | None = None, line: str = "main", **document: Any) -> Event:
        """Record an event at the tip of a line."""
        seq = len(self.events) + 1
        event = Event(
            kind=kind, session=self.id, line=line, seq=seq, at=f"2026-11-30T00:00:{seq:02}Z", id=id, document=document,
            commit=f"{ord(self.id[0]):02x}00000{seq:04x}{0:029x}", parents=(self.lines.get(line, ROOT),),
        )  # fmt: skip
        self.events.append(event)
        self.lines[line] = event.commit
        return event

    def open(self, line: str, at: Event) -> None:
        """Open a line at an event."""
        self.lines[line] = at.commit

    def retry(self, at: Event, line: str = "main", answers_to: str = "") -> Event:
        """Add a retry that forks at an event, and the line that it opens."""
        number = sum(event.kind == "retry" for event in self.events) + 1
        opened = f"retry-{len(self.lines) + 1}"
        opens = {"session": self.id, "line": opened, "at": at.commit}
        event = self.add("retry", f"R{number}", line, opens=opens, answers_to=[answers_to] if answers_to else [])
        self.open(opened, at)
        return event

    def session(self) -> Session:
        return Session(self.id, self.events, self.lines)


def migration() -> Timeline:
    """C1 … C6, a retry for C7, which never reported, and C8 on the line that the retry opened."""
    timeline = Timeline()
    timeline.add("start")
    events = [timeline.add("checkpoint", f"C{number}") for number in range(1, 7)]
    timeline.retry(events[-1], answers_to="C7")
    timeline.add("checkpoint", "C8", "retry-2")
    return timeline


def ids(events: list[Event]) -> list[str]:
    return [event.id or event.kind for event in events]
