"""Which sessions may be dropped: those asked for that nothing protects and no remaining session needs. Pure."""

from __future__ import annotations

from gitckpt.trajectory.undo import Identity, is_operation, operations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from gitckpt.trajectory.events import Event
    from gitckpt.trajectory.session import Session


def matching(
    sessions: Sequence[Session], *, keep_last: int | None = None, before: str | None = None, names: Collection[str] = ()
) -> list[Session]:
    """Return those of `sessions`, oldest first, that meet every given criterion: not among the last `keep_last`, no
    event since `before` (RFC 3339, UTC), and named in `names`."""
    by_age = sorted(sessions, key=_last)
    found = by_age if keep_last is None else by_age[: max(len(by_age) - keep_last, 0)]
    if before is not None:
        found = [session for session in found if _last(session) < before]
    return [session for session in found if session.id in names] if names else found


def _last(session: Session) -> str:
    return max((event.at for event in session.events if event.session == session.id), default="")


def interrupted(sessions: Iterable[Session], worktrees: Mapping[str, Identity]) -> dict[str, str]:
    """Return the sessions that an interrupted operation in an existing work tree still needs, by name, with the
    reason.
    """
    groups: dict[str, list[Session]] = {}
    for session in sessions:
        groups.setdefault(session.worktree or "", []).append(session)
    found = {}
    for name, group in groups.items():
        own = worktrees.get(name, Identity())
        events = sorted((event for session in group for event in session.events), key=lambda event: event.at)
        opened = [(s.id, line) for s in group for line in s.lines]
        begun = operations(filter(own.did, events), opened).interrupted
        if begun is not None:
            owners = {event.commit: event.session for event in events}
            found.update(dict.fromkeys(_needed_by(begun, owners), "a rollback that was interrupted needs it"))
    return found


def needed(kept: Collection[str], sessions: Sequence[Session]) -> dict[str, str]:
    """Return the sessions that the `kept` ones need, directly or indirectly, each with the session that needs it."""
    owners = {event.commit: event.session for session in sessions for event in session.events}
    needs = {session.id: _needs(session, owners) for session in sessions}
    found: dict[str, str] = {}
    waiting = list(kept)
    while waiting:
        id = waiting.pop()
        for other in needs.get(id, set()) - set(kept) - found.keys():
            found[other] = id
            waiting.append(other)
    return found


def _needs(session: Session, owners: Mapping[str, str]) -> set[str]:
    """Return the sessions without which this one is incomplete: its lines run through them, or its rollbacks opened
    lines there. (Undo would mistake a rollback whose line is gone for an interrupted one.)"""
    found = {event.session for event in session.events}
    for event in session.events:
        if event.kind in ("rollback", "retry") and is_operation(event):
            found |= _needed_by(event, owners)
    return found - {session.id}


def _needed_by(operation: Event, owners: Mapping[str, str]) -> set[str]:
    intent, opens = operation.document["rollback"], operation.opens
    commits = (intent.get("target"), intent.get("safety"))
    found = {owners[commit] for commit in commits if isinstance(commit, str) and commit in owners}
    if isinstance(opens, dict) and isinstance(opens.get("session"), str):
        found.add(opens["session"])
    return {operation.session, *found}
