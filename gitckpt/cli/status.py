"""`gitckpt status`, also printed by bare `gitckpt`: the state of recording in this work tree."""

from __future__ import annotations

from gitckpt.cli import render
from gitckpt.cli.elapsed import while_telling
from gitckpt.cli.elsewhere import sessions_elsewhere
from gitckpt.repo.reader import Reader
from gitckpt.repo.started import is_running, was_started_here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.trajectory.session import Session
    from gitckpt.views.paths import Change
    from gitckpt.views.status import Status


def status(*, json: bool = False) -> int:
    """Print session, line, last checkpoint, what has changed since, anything interrupted, anything not covered."""
    reader = Reader()
    found = _status(reader)
    if json:
        from gitckpt.views.status import status_document

        render.json(status_document(found))
        return 0
    from gitckpt.views.status import status_lines

    render.out(status_lines(found, render.style(), render.columns()))
    return 0


def _status(reader: Reader) -> Status:
    from gitckpt.views.status import Status

    session = reader.current_session()
    if session is None:
        return Status(elsewhere=sessions_elsewhere(reader))
    current = reader.journal.current()
    line = current[1] if current and current[0] == session.id and current[1] in session.lines else session.active_line
    changes, metadata, missing = _since(reader, Status(session, line))
    return Status(
        session,
        line,
        changes=changes,
        metadata=metadata,
        missing=missing,
        interrupted=_interrupted(reader),
        died=_has_died(reader, session),
    )


def _has_died(reader: Reader, session: Session) -> bool:
    """Return whether the agent most recently started from here is gone without an end event."""
    begun = session.unended
    pid = begun.document["agent"].get("pid") if begun else None
    if begun is None or not isinstance(pid, int):
        return False
    return was_started_here(reader.repository, begun.commit) and not is_running(pid)


def _since(reader: Reader, so_far: Status) -> tuple[list[Change], list[bytes], list[dict[str, object]]]:
    """Return what differs from the last checkpoint now, the paths that differ only in metadata, and what a snapshot
    taken now would not hold."""
    from gitckpt.repo.metadata import differing_metadata
    from gitckpt.repo.trees import changes
    from gitckpt.repo.worktree import WorkTree
    from gitckpt.trajectory.paths import path_data

    if so_far.last is None:
        return [], [], []
    tree = WorkTree(reader.repository, render.say, lenient=True)
    with tree.lock:
        snapshot = while_telling(tree.snapshotter.take)
    tree.close()
    found: list[Change] = [(c.status, c.path, None) for c in changes(reader.git, so_far.last.commit, snapshot.tree)]
    metadata = differing_metadata(reader.git, so_far.last, snapshot) - {path for _, path, _ in found}
    missing: list[dict[str, object]] = [
        {"path": path_data(path), "reason": why} for path, why in sorted(snapshot.missing.items())
    ]
    return found, sorted(metadata), missing


def _interrupted(reader: Reader) -> str:
    """Return the rollback of this work tree that was begun but not finished."""
    from gitckpt.wishes import operations_of

    event = operations_of(reader.journal).interrupted
    return f"{event.document['rollback']['operation']} to {event.document['rollback']['target_ref']}" if event else ""
