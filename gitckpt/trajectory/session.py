"""A session read back: its events in order, its lines, and lookup of events by name."""

from __future__ import annotations

from gitckpt.trajectory.events import CLOSING_KINDS, NAMED_KINDS, Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: The line that every session starts on.
MAIN = "main"


def line_number(line: str) -> int:
    """Return how many lines the session had when this one was opened: 1 for `main`, 4 for `retry-4`, 0 for a foreign
    name.
    """
    if line == MAIN:
        return 1
    number = line.rpartition("-")[2]
    return int(number) if number.isascii() and number.isdigit() and len(number) < 16 else 0


#: Why a line is opened; the first part of its name.
REASONS = ("retry", "rollback", "undo", "redo")


def next_lines(lines: Iterable[str]) -> list[str]:
    """Return the names that the next line may have, one per entry of REASONS; its number is one more than the highest
    so far.
    """
    number = max((line_number(line) for line in lines), default=0) + 1
    return [f"{reason}-{number}" for reason in REASONS]


class Session:
    """All events of one session.

    `events` are oldest first (by `seq`, then by time). `lines` maps the name of each line to the commit at its tip. A
    line without an event of its own points at the event that it was opened at, which may even be in another session."""

    __slots__ = ("_by_commit", "events", "id", "lines")

    def __init__(self, id: str, events: Iterable[Event], lines: Mapping[str, str]) -> None:
        self.id = id
        self.events = sorted(events, key=lambda event: (event.seq, event.at))
        self.lines = dict(sorted(lines.items(), key=lambda item: (line_number(item[0]), item[0])))
        self._by_commit = {event.commit: event for event in self.events}

    @property
    def total(self) -> int:
        """How many events the session has, not all of which may be loaded."""
        return max((event.seq for event in self.events if event.session in (self.id, "")), default=0)

    @property
    def worktree(self) -> str | None:
        """The work tree that it was recorded in, None if it has no event of its own. One of its lines may run through
        another session."""
        return next((event.worktree for event in self.events if event.session in (self.id, "")), None)

    @property
    def lost(self) -> int:
        """How many events are missing, judging by the numbers of the others. Valid only if all existing events were
        read."""
        numbers = {event.seq for event in self.events if event.session == self.id}
        unreadable = sum(event.kind == "unreadable" for event in self.events)
        return max(max(numbers, default=0) - len(numbers) - unreadable, 0)

    def add(self, event: Event) -> None:
        """Add the event that was just published at the tip of its line."""
        self.events.append(event)
        self.lines[event.line] = event.commit
        self._by_commit[event.commit] = event

    def event(self, commit: str) -> Event | None:
        """Return the event with this commit id, or None."""
        return self._by_commit.get(commit)

    def parent(self, event: Event) -> Event | None:
        """Return the previous event on its line, or None for the first."""
        return self._by_commit.get(event.parent)

    @property
    def active_line(self) -> str:
        """The line that was opened last, where recording continues."""
        return max(self.lines, key=line_number, default=MAIN)

    def chain(self, tip: str) -> list[Event]:
        """Return the events from the first one to the commit `tip`, oldest first, along first parents."""
        chain = []
        event = self._by_commit.get(tip)
        while event is not None:
            chain.append(event)
            event = self._by_commit.get(event.parent)
        return chain[::-1]

    def on_line(self, line: str) -> list[Event]:
        """Return the events of a line, oldest first, including those that it shares with the line it was opened on."""
        return self.chain(self.lines.get(line, ""))

    @property
    def is_open(self) -> bool:
        """Whether recording continues here: the active line does not end with FINAL or with the end of the agent."""
        tip = self._by_commit.get(self.lines.get(self.active_line, ""))
        return tip is None or not closes(tip, self.id, self.active_line)

    @property
    def unended(self) -> Event | None:
        """The event that records the most recently started agent, if no line records its end; otherwise None."""
        for event in reversed(self.events):
            if event.kind in CLOSING_KINDS:
                return None
            if event.kind in ("start", "note") and event.document.get("agent"):
                return event
        return None

    def named(self, id: str, line: str | None = None) -> list[Event]:
        """Return events with this canonical id, newest first; only those on `line` if given."""
        events = self.on_line(line) if line is not None else self.events
        return [event for event in reversed(events) if is_named(event, id)]


def closes(tip: Event, session: str, line: str) -> bool:
    """Return whether a line is over with this event at its tip. A line opened at the end of another line, as `pick`
    does, is not."""
    return tip.kind in CLOSING_KINDS and (tip.session, tip.line) == (session, line)


def is_named(event: Event, id: str) -> bool:
    """Return whether the event has this canonical id: `C6`, `S2`, `R1`, `start`, or an id that a RETRY answers to."""
    if event.kind == "start":
        return id == "start"
    if event.kind not in NAMED_KINDS:
        return False
    return event.id == id or (event.kind == "retry" and id in event.answers_to)
