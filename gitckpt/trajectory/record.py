"""What refs and commits say, taken together: the record that is verified. Pure."""

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

#: `damage` is history that cannot be read or was taken away; `notice` is what somebody should look at.
Level = Literal["damage", "notice"]

#: How many numbers that are left out are told.
MOST = 1000

#: What stands where an event should be.
NOT_OURS = "no event of gitckpt"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: what it is, and the command that helps.

    `check` names the rule that found it; `affected` are the commits of the events that suffer from it."""

    check: str
    level: Level
    message: str
    help: str
    affected: tuple[str, ...] = ()


@dataclass(frozen=True)
class Record:
    """All sessions that are verified.

    `root` is the commit under every session. `lines` and `tags` are session → name → commit. `events` are those that
    could be read, by commit; `faults` says of a commit that stands in a session's history why it is no event
    (`missing`, `damaged`, `no event of gitckpt`), and `unread` of an event why its document cannot be read.
    `broken` are refs whose file does not hold the name of an object. `current` is, by work tree, what is recorded on
    there: a session and its line, or the name of a ref that is no line. `fetched` are the sessions that were recorded
    elsewhere, `worktrees` the work trees that there are, by name."""

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
        """Event → the commit in which its history ends, along first parents: the root where it is unbroken."""
        ends: dict[str, str] = {}
        for commit in self.events:
            path, here = [], commit
            while here in self.events and here not in ends:
                path.append(here)
                here = self.events[here].parent
            ends.update(dict.fromkeys(path, ends.get(here, here)))
        return ends

    def readable(self) -> Iterator[Event]:
        """The events whose document this version can read, and judge."""
        return (event for event in self.ordered if self.is_readable(event))

    def is_readable(self, event: Event) -> bool:
        """Whether the event's document can be asked: it is not damaged, and of no newer format."""
        return event.kind != "unreadable" and event.commit not in self.unread and event.format <= FORMAT

    def missing_numbers(self, session: str) -> list[int]:
        """The numbers that the events of a session leave out: somebody deleted or moved a ref."""
        return left_out(event.seq for event in self.by_session[session])

    def is_lost(self, commit: str) -> bool:
        """Whether the commit cannot be read, so that nobody knows what it is and what is below it."""
        return commit != self.root and self.faults.get(commit, "") in (MISSING, DAMAGED, IN_A_PACK)

    def is_unknown(self, commit: str) -> bool:
        """Whether nobody knows which event the commit is."""
        return self.is_lost(commit) or (commit in self.events and self.events[commit].kind == "unreadable")

    def chain(self, commit: str) -> list[Event]:
        """The events from this one down to the first, newest first."""
        chain = []
        while (event := self.events.get(commit)) is not None:
            chain.append(event)
            commit = event.parent
        return chain

    def own(self, session: str, line: str) -> list[Event]:
        """The events at the tip of a line that were recorded on that very line, newest first; one whose message cannot
        be read may be of any line."""
        own = []
        event = self.events.get(self.lines.get(session, {}).get(line, ""))
        while event is not None and (event.kind == "unreadable" or (event.session, event.line) == (session, line)):
            own.append(event)
            event = self.events.get(event.parent)
        return own


def left_out(numbers: Iterable[int]) -> list[int]:
    """The numbers from 1 on that are not there below the highest, the first MOST: the highest may be anything."""
    found: list[int] = []
    before = 0
    for number in sorted(set(numbers)):
        found += islice(range(before + 1, number), MOST - len(found))
        before = number
    return found


def called(event: Event) -> str:
    """The event as a person names it: `run/C6`, `run/start`, or by its commit."""
    if event.kind == "unreadable":
        return f"the event {event.commit[:12]}"
    return f"{event.session}/start" if event.kind == "start" else event.ref
