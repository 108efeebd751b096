"""What a report of a session is made of, and how its events are found on the page."""

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
        """What changed in one file: `lines` of its hunks, `left_out` how many lines are not among them."""

        lines: list[bytes]
        notes: list[bytes]
        added: int
        deleted: int
        left_out: int
        is_binary: bool


#: A name that can stand in a link as it is. Others are somebody's forgeries, and go by their commit.
_PLAIN = re.compile(r"[\w.-]{1,64}")


class Contents:
    """A session with what its events changed: by commit `files`, the `patches` of these files in the same order, and
    what checkpoints say beside that, `claims`, and what came of commands on an event's files, `runs`. `stale` are the
    facts, as text and source, whose files are other in the work tree now than when they were given."""

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
        """The same, and those of the attempts that began at them, as they happened."""
        return merged(self.own, [drawn.events for drawn in self.attempts])

    @cached_property
    def _by_commit(self) -> dict[str, Event]:
        return {event.commit: event for event in (*self.session.events, *self.events)}

    @cached_property
    def attempt_of(self) -> dict[str, Drawn]:
        """Commit to the attempt that an event is of."""
        return {event.commit: drawn for drawn in self.attempts for event in drawn.events}

    @cached_property
    def all(self) -> list[Event]:
        """The events of the page, and those of another session that lines were opened at; each behind its parent."""
        others = [event for event in self.session.events if event.commit not in {e.commit for e in self.events}]
        return [*others, *self.events]

    @cached_property
    def active(self) -> list[Event]:
        """The events of the line that counts, oldest first."""
        return self.session.on_line(self.session.active_line)

    @cached_property
    def on_active(self) -> set[str]:
        return {event.commit for event in self.active}

    @cached_property
    def _chains(self) -> dict[str, str]:
        """Commit to one of the lines that it is on, the newest: two events of a line follow one another."""
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
        """The first event after `since` that changed a path, up to `until` on its line; None where none did."""
        chain = self._on_lines.get(self._chains.get(until.commit, ""), set())
        return next(
            (e for e in self._changes_of.get(path, ()) if since.seq < e.seq <= until.seq and e.commit in chain), None
        )

    @cached_property
    def names(self) -> dict[str, str]:
        """Lower-case name to the commit that it means: the newest of the id, on the line that counts where it is
        there."""
        found: dict[str, str] = {}
        for event in sorted(self.own, key=lambda event: (event.commit in self.on_active, event.seq)):
            for name in (event.id, *_other_names(event)):
                if name and _PLAIN.fullmatch(name):
                    found[name.lower()] = event.commit
        return found

    @cached_property
    def anchors(self) -> dict[str, str]:
        """Commit to the name that a link to it has on the page: its id (or `start`, `final`, `end`) where that means
        it, else the start of its commit."""
        return {event.commit: self._anchor(event) for event in self._by_commit.values()}

    def _anchor(self, event: Event) -> str:
        name = event.id or event.kind
        return name if self.names.get(name.lower()) == event.commit else event.commit[:12]

    def event(self, commit: str) -> Event | None:
        """The event of the page with this commit."""
        return self._by_commit.get(commit)

    def link(self, commit: str) -> dict[str, str] | None:
        """`{"name", "anchor"}` of an event of the session; None for any other commit."""
        event = self.event(commit)
        return {"name": escape(event.id or event.kind), "anchor": self.anchors[commit]} if event else None


def _other_names(event: Event) -> list[str]:
    if event.kind in ("start", "final", "end"):
        return [event.kind]
    return [str(id) for id in event.answers_to] if event.kind == "retry" else []
