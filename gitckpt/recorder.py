"""The write path: words → blocks → events. One block, one snapshot, one commit."""

from __future__ import annotations

import os

from gitckpt.account import Account
from gitckpt.errors import Damaged, GitFailed, Refused
from gitckpt.repo.naming import new_session_id
from gitckpt.repo.presence import ObjectsGone
from gitckpt.trajectory.events import Event
from gitckpt.trajectory.naming import check_name
from gitckpt.trajectory.session import MAIN, Session, closes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    from gitckpt.protocol.blocks import Block
    from gitckpt.repo.snapshot import Snapshot
    from gitckpt.repo.worktree import WorkTree
    from gitckpt.trajectory.sources import Source, Sources

    #: Takes a snapshot, possibly with the agent stopped meanwhile.
    Take = Callable[[Callable[[], Snapshot]], Snapshot]

    #: Restores the work tree, as a RETRY asks. Takes the recorder, the retry's event and the event to restore.
    Restore = Callable[["Recorder", Event, Event], Event]

    #: The result of writing: an event, or None if there is nothing to write.
    Written = TypeVar("Written")


def at_once(take: Callable[[], Snapshot]) -> Snapshot:
    """Take a snapshot, with nothing around it."""
    return take()


class Recorder:
    """Records into one session of a work tree.

    Without a name it continues the work tree's current session if that is open, or opens one. `alone` always opens one,
    and stays with it even if others record in the same work tree. `restore` answers a RETRY of a recorded checkpoint;
    without it, history forks and the files stay as they are. `agent` goes into the record of the session's start.
    `heard` says how far the client's own session file has been read; every event records it, except a start that
    another event follows.
    """

    def __init__(
        self,
        tree: WorkTree,
        *,
        name: str | None = None,
        alone: bool = False,
        agent: Mapping[str, Any] | None = None,
        restore: Restore | None = None,
        around: Take = at_once,
    ) -> None:
        if name is not None:
            check_name(name)
        self.tree, self.restore, self.heard = tree, restore, ""
        self._name, self._alone, self._agent, self._around = name, alone, agent, around
        self._session: Session | None = None
        self._sources: Sources | None = None
        self._last: tuple[str, tuple[object, ...]] | None = None
        self._reached = 0
        self.account = Account()

    @property
    def session(self) -> Session | None:
        """The session being recorded; None before the first event."""
        return self._session

    def go_on(self, session: Session) -> None:
        """Continue a session of this work tree. Only the events at the tips of its lines need be known: that is enough
        for an `auto` checkpoint, and for a note."""
        self.tree.know(session.events)
        if self.tree.journal.current() != (session.id, session.active_line):
            self.tree.writer.set_current(session.id, session.active_line)
        self._session = session

    def open(self) -> Session:
        """Find or open the session now, so that the state before the agent runs is on record."""
        with self.tree.lock:
            return self._place() or self.tree.anew(lambda: self._open(self._take(), self.heard))

    def record(
        self, block: Block, *, late: bool = False, target: Event | None = None, source: Source | None = None
    ) -> Event:
        """Record one block with the work tree as it is now. Raises GitckptError, and then nothing is recorded.

        `late` says that the agent had moved on before the block was read: the snapshot may hold later changes, and the
        record says so. `target` is the event that a RETRY goes back to, if already known. `source` goes into the
        record, where `holds` finds it.
        """

        from gitckpt.trajectory.decide import event_of

        def write(snapshot: Snapshot, session: Session) -> Event:
            event = event_of(block, session)
            event.source = str(source or "")
            if late:
                event.document["late"] = True
            if block.kind != "retry":
                return self.append(event, snapshot)
            return self._retry(event, snapshot, session, target)

        written = self._written(write)
        self.account.add(written, block)
        return written

    def _written(self, write: Callable[[Snapshot, Session], Written]) -> Written:
        """Take a snapshot and write an event, under the lock."""
        with self.tree.lock:
            return self.tree.anew(lambda: self._write(write))

    def _write(self, write: Callable[[Snapshot, Session], Written]) -> Written:
        """Take a snapshot and write. Retry once if another process has moved a ref of the session meanwhile."""
        snapshot = self._take()
        known = self._session
        try:
            return write(snapshot, self._place() or self._open(snapshot))
        except ObjectsGone:
            raise
        except GitFailed:
            if known is None or (now := self._reload(known.id)) is known:
                raise
            self._note_lost(known.total, now.total)
            return write(snapshot, self._place() or self._open(snapshot))

    def _note_lost(self, before: int, now: int) -> None:
        """Account for lost events: refs of the session were deleted, or another repository has replaced this one. New
        events are numbered after the lost ones, so that history shows the gap."""
        if now < before:
            self._reached = before
            self.account.lost += before - now

    def checkpoint(self, fields: Mapping[str, Any], document: Mapping[str, Any] | None = None) -> Event:
        """Record a checkpoint that was not written as a block, under the next id. `document` goes into the record
        beside the fields."""
        from gitckpt.trajectory.decide import event_of

        def write(snapshot: Snapshot, session: Session) -> Event:
            event = event_of(_checkpoint(session, fields), session)
            event.document.update(document or {})
            return self.append(event, snapshot)

        return self._written(write)

    def save(self, text: str) -> Event:
        """Record a checkpoint made by hand."""
        from gitckpt.trajectory.decide import event_of

        def write(snapshot: Snapshot, session: Session) -> Event:
            fields = {"phase": "implement", "done": [text]} if text else {}
            event = event_of(_checkpoint(session, fields), session)
            event.subject = f"{event.id}: {text or 'saved by hand'}"
            event.phase = ""
            event.document["by_hand"] = True
            return self.append(event, snapshot)

        return self._written(write)

    def holds(self, source: Source) -> bool:
        """Return whether the block from this source is on record in this work tree, in any session."""
        return self.recall().holds(str(source))

    def recall(self) -> Sources:
        """Load the sources on record, once. Callers may do so in advance, before time matters.

        If a session is damaged, no source counts as known: a block recorded twice is better than a lost one.
        """
        if self._sources is None:
            from gitckpt.trajectory.sources import Sources

            journal, here = self.tree.journal, self.tree.repository.name
            fetched = journal.origins()
            try:
                events = journal.events(tip for lines in journal.lines().values() for tip in lines.values())
            except Damaged:
                events = []
            self._sources = Sources(
                event.source for event in events if event.worktree == here and event.session not in fetched
            )
        return self._sources

    def auto(self, subject: str, document: Mapping[str, Any]) -> Event | None:
        """Record an `auto` checkpoint; return None if this recorder's last event holds the same state."""

        def write(snapshot: Snapshot, session: Session) -> Event | None:
            if self._last == (session.lines.get(session.active_line), _state(snapshot)):
                return None
            return self._note("auto", subject, document, snapshot, session)

        return self._written(write)

    def note(self, kind: str, subject: str, document: Mapping[str, Any]) -> Event:
        """Record an event without a block: `end`, `note`."""
        return self._written(lambda snapshot, session: self._note(kind, subject, document, snapshot, session))

    def _note(
        self, kind: str, subject: str, document: Mapping[str, Any], snapshot: Snapshot, session: Session
    ) -> Event:
        line = session.active_line if session.lines else MAIN
        event = Event(kind=kind, session=session.id, line=line, seq=0, at="", subject=subject, document=dict(document))
        return self.append(event, snapshot)

    def append(self, event: Event, snapshot: Snapshot, opened: str = "") -> Event:
        """Publish an event at the tip of its line. The caller holds the lock."""
        return self._append(event, snapshot, self.heard, opened)

    def _append(self, event: Event, snapshot: Snapshot, heard: str, opened: str = "") -> Event:
        assert self._session is not None
        event.heard = heard
        lines = self._session.lines
        if event.kind == "checkpoint" and event.fields.get("facts"):
            self._note_evidence(event, snapshot)
        self.tree.draft(event, snapshot, lines, self._reached)
        tags = (event.id,) if event.kind == "checkpoint" and event.id else ()
        self.tree.publish(event, snapshot, lines, tags=tags, opened=opened)
        self._session.add(event)
        self._last = (event.commit, _state(snapshot))
        if self._sources is not None:
            self._sources.add(event.source)
        return event

    def _note_evidence(self, event: Event, snapshot: Snapshot) -> None:
        """Record which content the sources of the facts point at."""
        from gitckpt.repo.evidence import evidence, last_with_facts

        assert self._session is not None
        before = last_with_facts(self._session.on_line(event.line))
        found = evidence(self.tree.repository, self.tree.raw, snapshot.tree, event, before)
        if found:
            event.document["sources"] = found

    def _take(self) -> Snapshot:
        return self._around(self.tree.snapshotter.take)

    def _retry(self, event: Event, snapshot: Snapshot, session: Session, target: Event | None) -> Event:
        """Fork. The old line keeps what the failed attempt left in the work tree, together with the retry itself."""
        from gitckpt.trajectory.decide import Fork, fork_of, next_line, retry_words

        fork = Fork(target, [], exact=True) if target else fork_of(str(event.fields.get("from") or ""), session)
        if fork is None:
            return self.append(event, snapshot)
        line = next_line(session, "retry")
        event.document["opens"] = {"session": session.id, "line": line, "at": fork.at.commit}
        event.document["answers_to"] = fork.answers_to
        if fork.answers_to:
            start = fork.at.id or fork.at.kind
            event.subject = f"{event.id} (for {fork.answers_to[0]}) from {start}: {retry_words(event.fields)}"
        if fork.exact and self.restore is not None:
            return self.restore(self, event, fork.at)
        self.append(event, snapshot, opened=line)
        self.tree.writer.set_current(session.id, line)
        return event

    def _place(self) -> Session | None:
        """Return the session to record into, None if one must be opened. Events or rollbacks by others are noticed when
        a ref is moved."""
        if self._session is not None:
            return self._session
        if self._name is not None:
            return self._named(self._name)
        return None if self._alone else self._current()

    def _named(self, name: str) -> Session | None:
        if not self.tree.journal.lines(name):
            return None
        session = self._reload(name)
        if session.events and session.worktree != self.tree.repository.name:
            raise Refused(f"session {name!r} belongs to another work tree", "choose another name")
        if origin := self.tree.journal.origins().get(name):
            raise Refused(
                f"session {name!r} was fetched from {origin}, and is only read here",
                f"gitckpt rollback {name}/last goes on from it in a session of your own",
            )
        self.tree.writer.set_current(session.id, session.active_line)
        return session

    def _current(self) -> Session | None:
        current = self.tree.journal.current()
        if current is None:
            return None
        lines = self.tree.journal.lines(current[0]).get(current[0], {})
        tip = self.tree.tips({lines[current[1]]}).get(lines[current[1]]) if current[1] in lines else None
        if tip is None or closes(tip, *current):
            return None
        return self._reload(current[0], lines)

    def _reload(self, id: str, lines: Mapping[str, str] | None = None) -> Session:
        """Read the session from its refs if they have moved since the last look; otherwise return the one at hand."""
        lines = self.tree.journal.lines(id).get(id, {}) if lines is None else lines
        if self._session is None or dict(lines) != dict(self._session.lines):
            self._session = self.tree.journal.session(id, lines)
        return self._session

    def _open(self, snapshot: Snapshot, heard: str = "") -> Session:
        """Open a session and record its start. `heard` is empty if another event follows at once: only that event may
        carry it, because the process may die right after the start."""
        id = self._name or new_session_id()
        self._session = Session(id, [], {})
        command = _in_short(self._agent or {})
        start = Event(
            kind="start", session=id, line=MAIN, seq=0, at="", subject=f"start: {command}" if command else "start",
            document={"agent": dict(self._agent)} if self._agent else {},
        )  # fmt: skip
        try:
            self._append(start, snapshot, heard)
        except GitFailed:
            self._session = None
            raise
        self.tree.writer.set_current(id, MAIN)
        self.account.opened = id
        return self._session


def _checkpoint(session: Session, fields: Mapping[str, Any]) -> Block:
    """Return a checkpoint block that no agent has written, with the next id."""
    from gitckpt.protocol.blocks import Block
    from gitckpt.trajectory.decide import next_checkpoint_id

    return Block("checkpoint", next_checkpoint_id(session), "", dict(fields))


def _state(snapshot: Snapshot) -> tuple[object, ...]:
    """Return everything that a rollback to the snapshot could restore."""
    staging = snapshot.staging
    return (
        snapshot.tree, snapshot.missing, snapshot.modes, snapshot.empty, snapshot.head.commit, snapshot.head.branch,
        staging and (staging.tree, staging.unmerged, staging.intended),
    )  # fmt: skip


def _in_short(agent: Mapping[str, Any]) -> str:
    """Return the agent's command; if a template made its prompt, return the template and the task instead."""
    if isinstance(agent.get("template"), list):
        return " ".join(agent["template"]) + (f", task: {agent['task']}" if agent.get("task") else "")
    return " ".join(agent.get("command") or [])


def agent_record(command: Sequence[str]) -> dict[str, Any]:
    """Return the record of an agent for the start of its session."""
    return {"command": [word.encode("utf-8", "replace").decode() for word in command], "pid": os.getpid()}
