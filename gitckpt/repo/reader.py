"""Read what is on record: sessions of this work tree, events by name, what each event changed. Creates and changes
nothing."""

from __future__ import annotations

from gitckpt.errors import Damaged, GitFailed
from gitckpt.repo.answers import reads, unreadable
from gitckpt.repo.journal import Journal
from gitckpt.repo.repository import discover
from gitckpt.trajectory.events import BLOCK_KINDS
from gitckpt.trajectory.naming import is_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gitckpt.repo.repository import Repository
    from gitckpt.trajectory.events import Event
    from gitckpt.trajectory.resolve import Found
    from gitckpt.trajectory.session import Session

    #: Git's status letter, the path, and the path before a rename (otherwise None).
    FileChange = tuple[str, bytes, bytes | None]


class Reader:
    """Answers questions about the record of one work tree."""

    def __init__(self, repository: Repository | None = None) -> None:
        self.repository = repository or discover()
        self.journal = Journal(self.repository)
        self.git = self.repository.git

    def current_session(self) -> Session | None:
        """Return the session that this work tree records on, else its newest one; None if nothing is on record."""
        current = self.journal.current()
        if current:
            lines = self.journal.lines(current[0]).get(current[0], {})
            if lines:
                return self.journal.session(current[0], lines)
            raise _refs_gone(current[0])
        sessions = self.journal.sessions()
        return sessions[-1] if sessions else None

    def sessions(self, *, everywhere: bool = False) -> list[Session]:
        """Return all sessions of this work tree, oldest first. Raise Damaged if the one being recorded is gone."""
        current = self.journal.current()
        found = self.journal.sessions(everywhere=everywhere)
        if current and all(session.id != current[0] for session in found):
            raise _refs_gone(current[0])
        return found

    def session(self, id: str) -> Session:
        """Return the session with this id. Raise UnknownId."""
        from gitckpt.errors import UnknownId

        lines = self.journal.lines(id).get(id, {}) if is_plain(id) else {}
        if not lines:
            raise UnknownId(f"no session {id!r}", "gitckpt sessions lists them")
        return self.journal.session(id, lines)

    def find(self, name: str, *, everywhere: bool = False) -> Found:
        """Return the event that a name refers to. Raise UnknownId."""
        from gitckpt.trajectory.resolve import resolve

        sessions = self.sessions(everywhere=everywhere)
        session = name.partition("/")[0] if "/" in name else ""
        if session and all(known.id != session for known in sessions) and session in self.journal.origins():
            sessions.append(self.session(session))  # a fetched session is searched only if it is named
        return resolve(name, sessions, self.journal.current())

    def line(self) -> list[Event]:
        """Return the events of the line being recorded, oldest first; [] if nothing is on record."""
        session = self.current_session()
        if session is None:
            return []
        current = self.journal.current()
        here = current is not None and current[0] == session.id and current[1] in session.lines
        return session.on_line(current[1] if current and here else session.active_line)

    def own_line(self) -> list[Event]:
        """Like `line`, but [] if nothing was recorded here yet. What came with fetched sessions is for those who ask
        for it, and not to be told to an agent."""
        return self.line() if self.journal.current() else []

    def entries(self, events: Sequence[Event] | None = None, *, own: bool = False) -> list[dict[str, Any]]:
        """Return what a context is built from: `{"kind", "id", "fields"}` of the blocks among the events, by default
        those on the line being recorded, or on the `own` line. The newest block that gives facts also has `stale`, the
        facts whose files have changed."""
        from gitckpt.repo.evidence import last_with_facts, stale_facts

        if events is None:
            events = self.own_line() if own else self.line()
        told = [event for event in events if event.kind in BLOCK_KINDS]
        newest = last_with_facts(told)
        return [
            {"kind": event.kind, "id": event.id, "fields": event.fields}
            | ({"stale": stale_facts(self.repository, event)} if event is newest else {})
            for event in told
        ]

    def files(self, events: Sequence[Event], sessions: Sequence[Session]) -> dict[str, list[FileChange]]:
        """Return, by commit, what each event changed against the previous one on its line. The first of a session
        changed nothing."""
        known = {event.commit for session in sessions for event in session.events}
        pairs = [(event.commit, event.parent) for event in events if event.parent in known]
        found: dict[str, list[FileChange]] = {event.commit: [] for event in events}
        if pairs:
            data = "".join(f"{commit} {parent}\n" for commit, parent in pairs).encode()
            try:
                output = self.git.run("diff-tree", "--stdin", "-r", "-z", "--no-renames", data=data)
            except GitFailed as error:
                raise unreadable("a checkpoint", error) from error
            _read_files(output, found)
        return found


def _refs_gone(session: str) -> Damaged:
    return Damaged(
        f"session {session} was being recorded here, and its refs are gone: somebody deleted them",
        "gitckpt log --session ID shows another session; gitckpt save starts a new one",
    )


@reads("diff-tree")
def _read_files(output: bytes, found: dict[str, list[FileChange]]) -> None:
    """Parse raw `diff-tree --stdin -z` output: a commit id, then what differs."""
    parts = iter(output.split(b"\0"))
    commit = ""
    for part in parts:
        if part.startswith(b":"):
            status = part.rpartition(b" ")[2].decode()
            path, old_path = next(parts), None
            if status[0] in "RC":
                old_path, path = path, next(parts)
            found[commit].append((status, path, old_path))
        elif part:
            commit = part.decode()
