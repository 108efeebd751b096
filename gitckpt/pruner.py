"""Drops whole sessions. This is the one operation that loses recorded history, so it checks twice."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gitckpt.errors import Refused, UnknownId
from gitckpt.repo.live import is_attended
from gitckpt.repo.lock import WorkTreeLock
from gitckpt.repo.retire import Ref, drop, freed_by, private_directories, refs_of
from gitckpt.repo.worktrees import identities
from gitckpt.trajectory.retention import interrupted, matching, needed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from gitckpt.repo.worktree import WorkTree
    from gitckpt.trajectory.session import Session


@dataclass(frozen=True, slots=True)
class Criteria:
    """Which sessions to drop: those that match every criterion given.

    `keep_last` keeps that many of the newest. `before` (RFC 3339, UTC) drops sessions without an event since then.
    `names` drops the sessions named. `everywhere` includes the sessions of all work trees; names are looked up there in
    any case.
    """

    keep_last: int | None = None
    before: str | None = None
    names: tuple[str, ...] = ()
    everywhere: bool = False


@dataclass(slots=True)
class Pruning:
    """What will be dropped, and what that frees: the number of `objects` that nothing else needs, and their `size` in
    bytes.

    `kept` maps sessions that were asked for but stay to the reason.
    """

    dropped: list[Session]
    kept: dict[str, str]
    refs: list[Ref] = field(default_factory=list)
    objects: int = 0
    size: int = 0


class Pruner:
    """Prunes one repository. A context manager: while it is active, gitckpt records nothing in any work tree."""

    def __init__(self, tree: WorkTree, say: Callable[[str], None] | None = None) -> None:
        self.tree, self._say, self._locks = tree, say, ExitStack()

    def __enter__(self) -> Pruner:
        with ExitStack() as locks:
            for directory in private_directories(self.tree.repository):
                own = directory == self.tree.repository.private_dir
                locks.enter_context(self.tree.lock if own else WorkTreeLock(directory, self._say))
            self._locks = locks.pop_all()
        return self

    def __exit__(self, *ending: object) -> None:
        self._locks.close()

    def plan(self, criteria: Criteria) -> Pruning:
        """Return what would be dropped. Raises UnknownId for a name that no session has, Refused for a named session
        that must stay."""
        repository, journal = self.tree.repository, self.tree.journal
        sessions = journal.sessions(everywhere=True)
        unknown = sorted(set(criteria.names) - {session.id for session in sessions})
        if unknown:
            raise UnknownId(f"no session {unknown[0]!r}", "gitckpt sessions --all lists them")
        everywhere = criteria.everywhere or bool(criteria.names)
        fetched = journal.origins()
        candidates = [s for s in sessions if everywhere or (s.worktree == repository.name and s.id not in fetched)]
        found = matching(candidates, keep_last=criteria.keep_last, before=criteria.before, names=criteria.names)
        kept = self._staying({session.id for session in found}, sessions, fetched)
        for name in criteria.names:
            if name in kept:
                raise Refused(
                    f"session {name} is not dropped: {kept[name]}", "gitckpt sessions --all shows which there are"
                )
        dropped = [session for session in found if session.id not in kept]
        ids = {session.id for session in dropped}
        objects, size = freed_by(repository, ids)
        return Pruning(dropped, kept, refs_of(repository, ids), objects, size)

    def _staying(self, asked: set[str], sessions: list[Session], fetched: Collection[str]) -> dict[str, str]:
        """Return the sessions in `asked` that must stay, and why. An interrupted rollback in a fetched session, or in a
        work tree that is gone, is no reason."""
        worktrees = identities(self.tree.repository)
        guarded = {own.session: "a work tree records on it" for own in worktrees.values() if own.session}
        guarded |= {session.id: "it is being recorded" for session in sessions if self._is_live(session)}
        guarded |= interrupted((session for session in sessions if session.id not in fetched), worktrees)
        kept = {id: why for id, why in guarded.items() if id in asked}
        staying = {session.id for session in sessions} - asked | kept.keys()
        return kept | {id: f"session {other} goes back to it" for id, other in needed(staying, sessions).items()}

    def _is_live(self, session: Session) -> bool:
        """Return whether a process records into the session; an agent may go on after its FINAL."""
        return any(is_attended(directory, session.id) for directory in private_directories(self.tree.repository))

    def carry_out(self, pruning: Pruning) -> None:
        """Drop all of the sessions, or none. Raises GitFailed if one has changed since the plan was made."""
        if pruning.refs:
            drop(self.tree.repository, self.tree.writer, pruning.refs)
        for directory in private_directories(self.tree.repository):
            for session in pruning.dropped:
                path = os.path.join(directory, b"live", os.fsencode(session.id))
                if os.path.lexists(path):
                    os.unlink(path)
