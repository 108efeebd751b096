"""A session read back: events in order, the lines they stand on, and how a name finds its event."""

from __future__ import annotations

from gitckpt.trajectory.events import CLOSING_KINDS, NAMED_KINDS, Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: The line that every session starts on.
MAIN = "main"


def line_number(line: str) -> int:
    """How many lines the session had when this one was opened: 1 for `main`, 4 for `retry-4`, 0 for a foreign name."""
    if line == MAIN:
        return 1
    number = line.rpartition("-")[2]
    return int(number) if number.isascii() and number.isdigit() and len(number) < 16 else 0


#: Why a line is opened; the first part of its name.
REASONS = ("retry", "rollback", "undo", "redo")


def next_lines(lines: Iterable[str]) -> list[str]:
    """The names that the next line may have, one for each of REASONS: its number is one more than any before it."""
    number = max((line_number(line) for line in lines), default=0) + 1
    return [f"{reason}-{number}" for reason in REASONS]


class Session:
    """All events of one session.

    `events` are oldest first (by `seq`, then by time). `lines` maps the name of each line to the commit at its tip; a
    line that was opened and has no event of its own yet points at the event that it was opened at, which may even be of
    another session."""

    __slots__ = ("_by_commit", "events", "id", "lines")

    def __init__(self, id: str, events: Iterable[Event], lines: Mapping[str, str]) -> None:
        self.id = id
        self.events = sorted(events, key=lambda event: (event.seq, event.at))
        self.lines = dict(sorted(lines.items(), key=lambda item: (line_number(item[0]), item[0])))
        self._by_commit = {event.commit: event for event in self.events}

    @property
    def total(self) -> int:
        """How many events the session has, of which not all need be here."""
        return max((event.seq for event in self.events if event.session in (self.id, "")), default=0)

    @property
    def worktree(self) -> str | None:
        """The work tree that it was recorded in, None where it has no event of its own. A line of it may run through
        another session."""
        return next((event.worktree for event in self.events if event.session in (self.id, "")), None)

    @property
    def lost(self) -> int:
        """How many events are gone, as the numbers of the others tell; for a session of which all that there is was
        read."""
        numbers = {event.seq for event in self.events if event.session == self.id}
        unreadable = sum(event.kind == "unreadable" for event in self.events)
        return max(max(numbers, default=0) - len(numbers) - unreadable, 0)

    def add(self, event: Event) -> None:
        """Take up the event that was just published at the tip of its line."""
        self.events.append(event)
        self.lines[event.line] = event.commit
        self._by_commit[event.commit] = event

    def event(self, commit: str) -> Event | None:
        """The event with this commit id, or None."""
        return self._by_commit.get(commit)

    def parent(self, event: Event) -> Event | None:
        """The event before it on its line, or None before the first."""
        return self._by_commit.get(event.parent)

    @property
    def active_line(self) -> str:
        """The line that was opened last, where recording goes on."""
        return max(self.lines, key=line_number, default=MAIN)

    def chain(self, tip: str) -> list[Event]:
        """The events from the first one to the commit `tip`, oldest first, along first parents."""
        chain = []
        event = self._by_commit.get(tip)
        while event is not None:
            chain.append(event)
            event = self._by_commit.get(event.parent)
        return chain[::-1]

    def on_line(self, line: str) -> list[Event]:
        """The events of a line, oldest first, with those that it shares with the line it was opened on."""
        return self.chain(self.lines.get(line, ""))

    @property
    def is_open(self) -> bool:
        """Whether recording goes on here: the active line does not end with FINAL or with the end of the agent."""
        tip = self._by_commit.get(self.lines.get(self.active_line, ""))
        return tip is None or not closes(tip, self.id, self.active_line)

    @property
    def unended(self) -> Event | None:
        """The event that tells of the agent started last, where no end of it is on record on any line; else None."""
        for event in reversed(self.events):
            if event.kind in CLOSING_KINDS:
                return None
            if event.kind in ("start", "note") and event.document.get("agent"):
                return event
        return None

    def named(self, id: str, line: str | None = None) -> list[Event]:
        """Events that go by this canonical id, newest first; only those on `line` where one is given."""
        events = self.on_line(line) if line is not None else self.events
        return [event for event in reversed(events) if is_named(event, id)]


def closes(tip: Event, session: str, line: str) -> bool:
    """Whether a line is over with this event at its tip. One that was opened at the end of another line, as `pick` does
    it, goes on from there."""
    return tip.kind in CLOSING_KINDS and (tip.session, tip.line) == (session, line)


def is_named(event: Event, id: str) -> bool:
    """Whether the event goes by this canonical id: `C6`, `S2`, `R1`, `start`, or an id that a RETRY answers to."""
    if event.kind == "start":
        return id == "start"
    if event.kind not in NAMED_KINDS:
        return False
    return event.id == id or (event.kind == "retry" and id in event.answers_to)
