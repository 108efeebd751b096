"""The contents of a session report, and how its events are addressed on the page."""

from __future__ import annotations

import re
from functools import cached_property

from gitckpt.trajectory.session import line_number
from gitckpt.views.attempts import merged
from gitckpt.views.row import own_events
from gitckpt.views.text import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Protocol

    from gitckpt.trajectory.bisection import Run
    from gitckpt.trajectory.claims import Claims
    from gitckpt.trajectory.events import Event
    from gitckpt.trajectory.session import Session
    from gitckpt.views.attempts import Drawn
    from gitckpt.views.paths import Change

    class Patch(Protocol):
        """The changes of one file: `lines` are the lines of its hunks, `left_out` is how many lines are missing from
        them.
        """

        lines: list[bytes]
        notes: list[bytes]
        added: int
        deleted: int
        left_out: int
        is_binary: bool


#: A name that can be used in a link unchanged. Any other name was forged; such events are linked by commit.
_PLAIN = re.compile(r"[\w.-]{1,64}")


class Contents:
    """A session with what its events changed.

    `files`, `patches` (of these files, in the same order), `claims` (how a checkpoint's text compares with its changes)
    and `runs` (the results of commands run on an event's files) are by commit. `stale` are the facts, as text and
    source, whose files in the work tree differ from when the facts were given."""

    def __init__(
        self,
        session: Session,
        files: Mapping[str, Sequence[Change]] | None = None,
        patches: Mapping[str, Sequence[Patch]] | None = None,
        claims: Mapping[str, Claims] | None = None,
        stale: Collection[tuple[str, str]] = (),
        runs: Mapping[str, Sequence[Run]] | None = None,
        attempts: Sequence[Drawn] = (),
    ) -> None:
        self.session, self.files, self.patches, self.claims = session, files or {}, patches or {}, claims or {}
        self.stale, self.runs, self.attempts = frozenset(stale), runs or {}, attempts

    @cached_property
    def own(self) -> list[Event]:
        """The session's own events, oldest first."""
        return own_events(self.session)

    @cached_property
    def events(self) -> list[Event]:
        """The same, together with those of the attempts that began at them, in chronological order."""
        return merged(self.own, [drawn.events for drawn in self.attempts])

    @cached_property
    def _by_commit(self) -> dict[str, Event]:
        return {event.commit: event for event in (*self.session.events, *self.events)}

    @cached_property
    def attempt_of(self) -> dict[str, Drawn]:
        """Maps a commit to the attempt that the event belongs to."""
        return {event.commit: drawn for drawn in self.attempts for event in drawn.events}

    @cached_property
    def all(self) -> list[Event]:
        """The events of the page, and those of other sessions that lines were opened at; each after its parent."""
        others = [event for event in self.session.events if event.commit not in {e.commit for e in self.events}]
        return [*others, *self.events]

    @cached_property
    def active(self) -> list[Event]:
        """The events of the current line, oldest first."""
        return self.session.on_line(self.session.active_line)

    @cached_property
    def on_active(self) -> set[str]:
        return {event.commit for event in self.active}

    @cached_property
    def _chains(self) -> dict[str, str]:
        """Maps a commit to the newest of the lines that it is on: two events of a line follow one another."""
        found: dict[str, str] = {}
        for line in sorted(self.session.lines, key=line_number, reverse=True):
            found |= {event.commit: line for event in self.session.on_line(line) if event.commit not in found}
        return found

    @cached_property
    def _on_lines(self) -> dict[str, set[str]]:
        return {
            line: {event.commit for event in self.session.on_line(line)}
            for line in dict.fromkeys(self._chains.values())
        }

    @cached_property
    def _changes_of(self) -> dict[bytes | str, list[Event]]:
        found: dict[bytes | str, list[Event]] = {}
        for event in self.events:
            for _, path, _ in self.files.get(event.commit, ()):
                if isinstance(path, bytes | str):
                    found.setdefault(path, []).append(event)
        return found

    def changed_between(self, path: bytes, since: Event, until: Event) -> Event | None:
        """Return the first event after `since` that changed a path, up to `until` on its line; None if there is
        none.
        """
        chain = self._on_lines.get(self._chains.get(until.commit, ""), set())
        return next(
            (e for e in self._changes_of.get(path, ()) if since.seq < e.seq <= until.seq and e.commit in chain), None
        )

    @cached_property
    def names(self) -> dict[str, str]:
        """Maps a lowercase name to its commit: the newest event with that id, preferably on the current line."""
        found: dict[str, str] = {}
        for event in sorted(self.own, key=lambda event: (event.commit in self.on_active, event.seq)):
            for name in (event.id, *_other_names(event)):
                if name and _PLAIN.fullmatch(name):
                    found[name.lower()] = event.commit
        return found

    @cached_property
    def anchors(self) -> dict[str, str]:
        """Maps a commit to its anchor on the page: its id (or `start`, `final`, `end`) if that refers to it, otherwise
        the start of its commit id."""
        return {event.commit: self._anchor(event) for event in self._by_commit.values()}

    def _anchor(self, event: Event) -> str:
        name = event.id or event.kind
        return name if self.names.get(name.lower()) == event.commit else event.commit[:12]

    def event(self, commit: str) -> Event | None:
        """Return the event of the page with this commit."""
        return self._by_commit.get(commit)

    def link(self, commit: str) -> dict[str, str] | None:
        """Return `{"name", "anchor"}` for an event of the session; None for any other commit."""
        event = self.event(commit)
        return {"name": escape(event.id or event.kind), "anchor": self.anchors[commit]} if event else None


def _other_names(event: Event) -> list[str]:
    if event.kind in ("start", "final", "end"):
        return [event.kind]
    return [str(id) for id in event.answers_to] if event.kind == "retry" else []
