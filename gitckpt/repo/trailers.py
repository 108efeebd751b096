"""The trailer that binds a commit of the user's to the checkpoint that led to it."""

from __future__ import annotations

import os

from gitckpt.errors import UnknownId
from gitckpt.repo.gateway import split
from gitckpt.repo.head import Heads
from gitckpt.repo.journal import Journal
from gitckpt.repo.revisions import object_named
from gitckpt.trajectory.events import CLOSING_KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.repo.reader import Reader
    from gitckpt.repo.repository import Repository
    from gitckpt.trajectory.events import Event
    from gitckpt.trajectory.session import Session

TRAILER = "Gitckpt-Checkpoint"

#: How many events back to search for a checkpoint: a commit must not wait for a long session to be read.
FAR = 50


def last_checkpoint(repository: Repository) -> str | None:
    """Return the newest checkpoint on the line being recorded (`<session>/C6`); None if there is none, or if git is
    only replaying commits (a rebase, a cherry-pick, …)."""
    heads = Heads(repository)
    if heads.read(heads.start()).operation not in (None, "merge"):
        return None
    journal = Journal(repository)
    current = journal.current()
    tip = journal.lines(current[0]).get(current[0], {}).get(current[1]) if current else None
    if tip is None:
        return None
    events = journal.events([tip], FAR)
    if not events or events[0].kind in CLOSING_KINDS:
        return None
    return next((event.ref for event in events if event.kind == "checkpoint" and event.id), None)


def add_trailer(repository: Repository, file: str, checkpoint: str) -> None:
    """Add the trailer to the message in `file`, using the user's own configuration of trailers and comments."""
    path = os.path.abspath(os.fsencode(file))
    repository.user_git().run(
        "interpret-trailers",
        "--in-place",
        "--if-exists",
        "addIfDifferent",
        "--trailer",
        f"{TRAILER}: {checkpoint}",
        path,
    )


def led_to(reader: Reader, commit: str) -> tuple[Session, list[Event]]:
    """Return the session and those of its events, oldest first, that led to a commit: those after the checkpoint to
    which an earlier commit in its history is bound. Raise UnknownId for a commit that is not bound."""
    bound = _bound(reader.repository, commit)
    if not bound or bound[0][0] != _resolved(reader.repository, commit):
        raise UnknownId(
            f"commit {commit!r} names no checkpoint: it has no {TRAILER} trailer",
            "gitckpt init --hooks has git add it to the commits made while a session is open",
        )
    newest = reader.find(bound[0][1]).event
    session = reader.session(newest.session)
    before = bound[1][1] if len(bound) > 1 else ""
    events: list[Event] = []
    for event in reversed(session.chain(newest.commit)):
        if event.ref == before:
            break
        events.insert(0, event)
    return session, events


def _resolved(repository: Repository, commit: str) -> str:
    found = object_named(repository.git, commit + "^{commit}")
    if found is None:
        raise UnknownId(f"there is no commit {commit!r}", "git log lists them; gitckpt log alone shows the session")
    return found


def _bound(repository: Repository, commit: str) -> list[tuple[str, str]]:
    """Return the bound commits from this one back, newest first, each with its checkpoint; at most two."""
    command = (
        "log",
        "--first-parent",
        f"-n{FAR * 10}",
        "-z",
        f"--format=%H %(trailers:key={TRAILER},valueonly,separator=%x20)",
    )
    rows = split(repository.git.run(*command, _resolved(repository, commit)))
    named = [row.decode("utf-8", "replace").split() for row in rows]
    return [(row[0], row[-1]) for row in named if len(row) > 1][:2]
