"""Attempts on record: the end event of each says where it began and how it ended. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitckpt.trajectory.events import Event
    from gitckpt.trajectory.session import Session


class Tried(NamedTuple):
    """An attempt: its session; the record of its number, the checkpoint it began at and how it ended; its newest event,
    which holds the result; and its own events, oldest first."""

    session: str
    record: dict[str, Any]
    newest: Event
    events: list[Event]

    @property
    def number(self) -> int:
        """Its number within its fork, from 1."""
        number = self.record.get("number")
        return number if isinstance(number, int) else 0

    @property
    def began_at(self) -> str:
        """The commit of the checkpoint that it began at."""
        return str(self.record.get("at"))

    @property
    def failure(self) -> str:
        """Why it failed; "" if it ended well and passed its test, if any."""
        status, test = self.record.get("status"), self.record.get("test")
        return f"exit status {status}" if status else f"its test ended with exit status {test}" if test else ""

    @property
    def fork(self) -> str:
        """The session name prefix shared by all attempts of one fork."""
        return self.session.rpartition("-")[0]


def tried(sessions: Iterable[Session]) -> list[Tried]:
    """Return the attempts among these sessions: forks in the order in which they began, attempts of a fork by
    number.
    """
    found, begun = [], dict[str, str]()
    for session in sessions:
        end = next((event for event in reversed(session.events) if _is_of_attempt(event, session)), None)
        if end is not None:
            line = session.on_line(session.active_line)
            own = [event for event in line if event.session == session.id]
            attempt = Tried(session.id, end.document["attempt"], line[-1] if line else end, own)
            found.append(attempt)
            # events from the session that it was forked from are older
            first = min(event.at for event in session.events if event.session == session.id)
            begun[attempt.fork] = min(first, begun.get(attempt.fork, first))
    return sorted(found, key=lambda attempt: (begun[attempt.fork], attempt.number))


def picked(attempt: Tried, sessions: Iterable[Session]) -> bool:
    """Return whether any other session continues, or continued, from the attempt's newest event."""
    return any(
        session.event(attempt.newest.commit) is not None for session in sessions if session.id != attempt.session
    )


def _is_of_attempt(event: Event, session: Session) -> bool:
    return (
        event.kind == "end"
        and event.session == session.id
        and event.subject.startswith("attempt ")
        and isinstance(event.document.get("attempt"), dict)
    )
