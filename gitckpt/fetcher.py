"""Fetching sessions from a remote.

Whatever is fetched is untrusted: ref names, messages, whole histories. Each session is examined before any ref names
it, is recorded in one transaction, and is read-only here. It goes on record only if it reads as a session that gitckpt
has written. A session that was recorded here is never touched, whatever a remote holds under its name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gitckpt.errors import Damaged, GitFailed, UnknownId
from gitckpt.protocol.ids import is_legal
from gitckpt.repo.arrived import ancestry, arrived, is_whole
from gitckpt.repo.listed import sessions_in
from gitckpt.repo.repository import line_ref, origin_ref, tag_ref

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gitckpt.repo.journal import Lines
    from gitckpt.repo.remote import Remote
    from gitckpt.repo.worktree import WorkTree
    from gitckpt.trajectory.events import Event

#: The state of a session that a remote has.
NEW, MORE, SAME, OWN, REFUSED = "new", "more", "same", "own", "refused"


@dataclass(slots=True)
class Arrival:
    """A session on the remote.

    `state` is new, more (than is here), same, own (recorded here, and nothing new to us) or refused, for the `reason`
    given. `lines` are its lines on the remote, name → tip. `events` counts its own events that are new here; `through`
    holds the sessions of all events that came with it.
    """

    id: str
    lines: dict[str, str]
    state: str = NEW
    reason: str = ""
    events: int = 0
    through: set[str] = field(default_factory=set)

    @property
    def is_wanted(self) -> bool:
        """Whether there is anything to fetch."""
        return self.state in (NEW, MORE)

    def refuse(self, reason: str) -> None:
        """Refuse the session: nothing of it is fetched."""
        self.state, self.reason, self.events = REFUSED, reason, 0


@dataclass(slots=True)
class Fetching:
    """What a remote has: its `sessions`, and how many `strange` refs under our prefix are none that gitckpt creates."""

    remote: str
    sessions: list[Arrival] = field(default_factory=list)
    strange: int = 0

    def of(self, *states: str) -> list[Arrival]:
        """Return the sessions in one of these states."""
        return [session for session in self.sessions if session.state in states]


class Fetcher:
    """Fetches sessions into one repository."""

    def __init__(self, tree: WorkTree, remote: Remote) -> None:
        self.tree, self._remote = tree, remote
        self._there: Lines = {}
        self._git, self._journal = tree.repository.git, tree.journal

    def plan(self, names: Iterable[str] = ()) -> Fetching:
        """Return what there is to fetch of the sessions named, or of all. Raises UnknownId for a session that the
        remote does not have."""
        lines, strange = sessions_in(self._remote.refs())
        self._there = lines
        asked = set(names)
        if unknown := sorted(asked - lines.keys()):
            raise UnknownId(
                f"{self._remote.name} has no session {unknown[0]!r}",
                f"gitckpt fetch {self._remote.name} --dry-run lists them",
            )
        here, fetched = self._journal.lines(), self._journal.origins()
        found = Fetching(self._remote.name, strange=strange)
        for id in sorted(asked or lines):
            session = Arrival(id, lines[id])
            self._compare(session, here.get(id, {}), own=id in here and id not in fetched)
            found.sessions.append(session)
        return found

    def _compare(self, session: Arrival, here: Mapping[str, str], *, own: bool) -> None:
        missing = {tip for line, tip in session.lines.items() if here.get(line) != tip}
        if own:
            if ancestry(self._git, missing, here.values()):
                session.state = OWN
            else:
                session.refuse("it was recorded here, and is different there")
        elif here:
            session.state = MORE if missing else SAME

    def carry_out(self, fetching: Fetching) -> None:
        """Fetch the wanted sessions, and the sessions that their lines run through. Those that do not read as sessions
        are refused and leave nothing behind."""
        wanted = [session for session in fetching.sessions if session.is_wanted]
        while wanted:
            self._bring(wanted)
            known = {session.id for session in fetching.sessions} | self._journal.lines().keys()
            needed = {id for session in wanted for id in session.through} - known
            wanted = [Arrival(id, self._there[id]) for id in sorted(needed & self._there.keys())]
            fetching.sessions += wanted

    def _bring(self, wanted: list[Arrival]) -> None:
        for session in self._brought(wanted):
            with self.tree.lock:
                try:
                    self._take(session)
                except (Damaged, GitFailed) as error:
                    session.refuse(str(error))

    def _brought(self, wanted: list[Arrival]) -> list[Arrival]:
        """Return the sessions whose objects are here now. If they cannot be fetched together, fetch them one at a time,
        so that a bad one does not keep the others out."""
        try:
            self._remote.fetch(sorted({tip for session in wanted for tip in session.lines.values()}))
        except Damaged as error:
            if len(wanted) > 1:
                return [session for one in wanted for session in self._brought([one])]
            wanted[0].refuse(str(error))
            return []
        return wanted

    def _take(self, session: Arrival) -> None:
        """Put one session on record. The caller holds the lock. Raises Damaged."""
        here = self._journal.lines(session.id).get(session.id, {})
        lines, fetched = self._journal.lines(), self._journal.origins()
        if here and session.id not in fetched:
            return session.refuse("a session of this name was recorded here meanwhile")
        if not all(ancestry(self._git, [here[line]], [tip]) for line, tip in session.lines.items() if line in here):
            return session.refuse(
                f"what is here is not in what {self._remote.name} has by now: its history was written anew"
            )
        own = lines.keys() - fetched.keys()
        events = arrived(
            self.tree.repository, session.lines.values(), [t for held in lines.values() for t in held.values()]
        )
        if not here and all(event.session != session.id for event in events):
            return session.refuse("no event in it is its own")
        if forged := [event for event in events if event.session != session.id and event.session in own]:
            return session.refuse(
                f"an event in it claims to be of session {forged[0].session}, which was recorded here"
            )
        session.through = {event.session for event in events}
        # its events may have been fetched with another session that continues from one of them
        old, now = (self._own(session, tips) for tips in (here, {**here, **session.lines}))
        session.events = len(now) - len(old)
        updates = self._updates(session, here, now)
        self.tree.writer.publish(updates, f"gitckpt: fetched from {self._remote.name}")
        if not is_whole(
            self.tree.repository, session.id, session.lines.values(), partial=self.tree.settings.partial_clone
        ):
            null = self.tree.repository.null_oid
            self.tree.writer.publish([(name, old or null, new) for name, new, old in updates], "gitckpt: not whole")
            session.refuse("objects of it are missing")
        return None

    def _own(self, session: Arrival, lines: Mapping[str, str]) -> list[Event]:
        """Return the session's own events on these lines."""
        return [e for e in self._journal.events(lines.values()) if e.session == session.id] if lines else []

    def _updates(self, session: Arrival, here: Mapping[str, str], own: Iterable[Event]) -> list[tuple[str, str, str]]:
        """Return the refs to update, as (name, new, current). Each tag goes to the newest checkpoint of its id,
        regardless of where the remote has it."""
        null = self.tree.repository.null_oid
        updates = [(line_ref(session.id, line), tip, here.get(line, null)) for line, tip in session.lines.items()]
        newest = newest_checkpoints(own)
        tags = self._journal.tags(session.id)
        updates += [(tag_ref(session.id, id), commit, tags.get(id, null)) for id, commit in newest.items()]
        mark = origin_ref(session.id, self._remote.name)
        held = self._git.text("rev-parse", "-q", "--verify", mark, ok=(0, 1))
        return [*updates, (mark, next(iter(session.lines.values())), held or null)]


def newest_checkpoints(events: Iterable[Event]) -> dict[str, str]:
    """Return id → commit of the newest checkpoint with that id, among the events of one session."""
    named = (e for e in events if e.kind == "checkpoint" and e.id and is_legal(e.id))
    return {str(event.id): event.commit for event in sorted(named, key=lambda event: (event.seq, event.at))}
