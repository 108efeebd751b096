"""Compare what checkpoints claim with what their snapshots show, for events on record."""

from __future__ import annotations

from gitckpt.repo.trees import paths_of
from gitckpt.trajectory.claims import Claims, Paths, compare, is_compared, step_of, told_before
from gitckpt.trajectory.events import is_readable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gitckpt.repo.reader import FileChange, Reader
    from gitckpt.trajectory.events import Event
    from gitckpt.trajectory.session import Session


def checked_claims(
    reader: Reader, events: Sequence[Event], sessions: Sequence[Session], files: Mapping[str, Sequence[FileChange]]
) -> dict[str, Claims]:
    """Return what each checkpoint of an agent claims, by commit. `files` are changed files that are already known, as
    `Reader.files` returns them. Raise Damaged if a checkpoint cannot be read."""
    found: dict[str, Claims] = {}
    for session in sessions:
        steps = {
            event: step_of(event, session)
            for event in events
            if session.event(event.commit) is event and is_compared(event)
        }
        steps = {event: step for event, step in steps.items() if _is_whole(step, session)}
        found |= _of_session(reader, session, steps, files) if steps else {}
    return found


def _is_whole(step: Sequence[Event], session: Session) -> bool:
    """Return whether a step is completely known. If only a few events of a long session are given, the beginning of the
    first step may be missing; and a session that was opened for its first block has that block's work in its first
    snapshot."""
    if step[-1].kind == "start":
        return is_readable(step[-1]) and bool(step[-1].document.get("agent"))
    return session.parent(step[-1]) is not None


def _of_session(
    reader: Reader,
    session: Session,
    steps: Mapping[Event, Sequence[Event]],
    files: Mapping[str, Sequence[FileChange]],
) -> dict[str, Claims]:
    told = {event.commit: event for step in steps.values() for event in step}
    unasked = [event for commit, event in told.items() if commit not in files]
    changes = {**files, **(reader.files(unasked, [session]) if unasked else {})}
    changed = {commit: {path for _, path, _ in changes[commit]} for commit in told}
    # the paths of the first snapshot and all that changed since: these include every path of any of the snapshots
    first = min(told.values(), key=lambda event: event.seq)
    known = Paths({*paths_of(reader.git, first.commit), *(path for paths in changed.values() for path in paths)})
    return {
        event.commit: compare(
            event.fields,
            set().union(*(changed[part.commit] for part in step)),
            known,
            told_before(event, session),
        )
        for event, step in steps.items()
    }
