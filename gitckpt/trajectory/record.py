"""The record under verification: what refs and commits say, taken together. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Literal

from gitckpt.trajectory.events import FORMAT
from gitckpt.trajectory.remedies import DAMAGED, IN_A_PACK, MISSING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from gitckpt.trajectory.events import Event
    from gitckpt.trajectory.undo import Identity

#: `damage` is history that is unreadable or missing; `notice` is something the user should look at.
Level = Literal["damage", "notice"]

#: The maximum number of missing numbers reported.
MOST = 1000

#: What is found in place of an event.
NOT_OURS = "no event of gitckpt"


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem: what it is, and the command that helps.

    `check` names the rule that found it; `affected` are the commits of the affected events."""

    check: str
    level: Level
    message: str
    help: str
    affected: tuple[str, ...] = ()


@dataclass(frozen=True)
class Record:
    """All sessions under verification.

    `root` is the commit below every session. `lines` and `tags` map session → name → commit. `events` are those that
    could be read, by commit; `faults` maps a commit in a session's history to why it is not an event (`missing`,
    `damaged`, `no event of gitckpt`), and `unread` maps an event to why its document cannot be read. `broken` are refs
    whose file does not contain an object name. `current` maps a work tree to what is recorded there: a session and its
    line, or the name of a ref that is not a line. `fetched` are the sessions recorded elsewhere, `worktrees` the
    existing work trees by name."""

    root: str
    lines: Mapping[str, Mapping[str, str]]
    tags: Mapping[str, Mapping[str, str]]
    events: Mapping[str, Event]
    faults: Mapping[str, str] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    broken: Collection[str] = ()
    current: Mapping[str, tuple[str, str] | str] = field(default_factory=dict)
    fetched: Collection[str] = ()
    worktrees: Mapping[str, Identity] = field(default_factory=dict)

    @cached_property
    def ordered(self) -> list[Event]:
        """All events, session by session, oldest first."""
        return sorted(self.events.values(), key=lambda event: (event.session, event.seq, event.at, event.commit))

    @cached_property
    def by_session(self) -> dict[str, list[Event]]:
        """The events of each session that has a ref, oldest first."""
        found: dict[str, list[Event]] = {session: [] for session in sorted({*self.lines, *self.tags})}
        for event in self.ordered:
            found.setdefault(event.session, []).append(event)
        return found

    @cached_property
    def ends(self) -> dict[str, str]:
        """Maps each event to the commit where its history ends, along first parents: the root if it is unbroken."""
        ends: dict[str, str] = {}
        for commit in self.events:
            path, here = [], commit
            while here in self.events and here not in ends:
                path.append(here)
                here = self.events[here].parent
            ends.update(dict.fromkeys(path, ends.get(here, here)))
        return ends

    def readable(self) -> Iterator[Event]:
        """Return the events whose document this version can read and check."""
        return (event for event in self.ordered if self.is_readable(event))

    def is_readable(self, event: Event) -> bool:
        """Return whether the event's document can be read: it is not damaged, and not in a newer format."""
        return event.kind != "unreadable" and event.commit not in self.unread and event.format <= FORMAT

    def missing_numbers(self, session: str) -> list[int]:
        """Return the gaps in the event numbers of a session, which mean that a ref was deleted or moved."""
        return left_out(event.seq for event in self.by_session[session])

    def is_lost(self, commit: str) -> bool:
        """Return whether the commit cannot be read, so that neither it nor what is below it is known."""
        return commit != self.root and self.faults.get(commit, "") in (MISSING, DAMAGED, IN_A_PACK)

    def is_unknown(self, commit: str) -> bool:
        """Return whether it is unknown which event the commit is."""
        return self.is_lost(commit) or (commit in self.events and self.events[commit].kind == "unreadable")

    def chain(self, commit: str) -> list[Event]:
        """Return the events from this one back to the first, newest first."""
        chain = []
        while (event := self.events.get(commit)) is not None:
            chain.append(event)
            commit = event.parent
        return chain

    def own(self, session: str, line: str) -> list[Event]:
        """Return the events at the tip of a line that were recorded on that line, newest first; an event with an
        unreadable message may belong to any line."""
        own = []
        event = self.events.get(self.lines.get(session, {}).get(line, ""))
        while event is not None and (event.kind == "unreadable" or (event.session, event.line) == (session, line)):
            own.append(event)
            event = self.events.get(event.parent)
        return own


def left_out(numbers: Iterable[int]) -> list[int]:
    """Return the first MOST numbers missing between 1 and the highest, which may be arbitrarily large."""
    found: list[int] = []
    before = 0
    for number in sorted(set(numbers)):
        found += islice(range(before + 1, number), MOST - len(found))
        before = number
    return found


def called(event: Event) -> str:
    """Return the event's name as shown to the user: `run/C6`, `run/start`, or its commit."""
    if event.kind == "unreadable":
        return f"the event {event.commit[:12]}"
    return f"{event.session}/start" if event.kind == "start" else event.ref
