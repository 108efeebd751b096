"""The attempts that began at the events of a session, and what each of them changed."""

from __future__ import annotations

from gitckpt.errors import Damaged
from gitckpt.repo import checked
from gitckpt.repo.journal import session_of
from gitckpt.repo.trees import numstat
from gitckpt.trajectory.attempts import Tried, picked, tried

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitckpt.repo.gateway import Git
    from gitckpt.repo.reader import Reader
    from gitckpt.trajectory.session import Session
    from gitckpt.views.attempts import AttemptRow


def attempts_from(reader: Reader, sessions: Sequence[Session]) -> list[Tried]:
    """Return the attempts that began at an event of one of these sessions and have ended, in the order of `tried`."""
    lines = reader.journal.numbered()
    known = {event.commit: event for session in sessions for event in session.events}
    if not lines or not known:
        return []
    # do not read again what the sessions hold: an attempt is a few events at the end of a long history
    held = [f"^{tip}" for session in sessions for tip in session.lines.values()]
    read = reader.journal.events([*held, *(tip for tips in lines.values() for tip in tips.values())])
    known |= {event.commit: event for event in read}
    found = tried(session_of(id, tips, known) for id, tips in lines.items())
    return [attempt for attempt in found if any(session.event(attempt.began_at) for session in sessions)]


def attempt_row(git: Git, attempt: Tried, sessions: Sequence[Session]) -> AttemptRow:
    """Return how an attempt ended and what it changed; `sessions` are those that may have continued from it. Raise
    Damaged."""
    record = attempt.record
    try:
        changed = numstat(git, checked.oid(record.get("at")), attempt.newest.commit)
        test = record.get("test")
        return {
            "session": attempt.session, "number": attempt.number, "of": str(record.get("of")),
            "status": int(record["status"]), "seconds": float(record["seconds"]),
            "test": None if test is None else int(test), "files": len(changed),
            "added": sum(row[0] or 0 for row in changed), "deleted": sum(row[1] or 0 for row in changed),
            "picked": picked(attempt, sessions),
        }  # fmt: skip
    except (LookupError, TypeError, ValueError) as error:
        raise Damaged(f"the record of attempt {attempt.session} has a wrong form", "gitckpt verify") from error
