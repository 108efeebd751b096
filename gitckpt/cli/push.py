"""`gitckpt push`: send sessions to a remote, without anything confidential."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gitckpt.cli import render
from gitckpt.cli.progress import Progress
from gitckpt.cli.transfer import ending_by_signal
from gitckpt.errors import Refused, UnknownId, UsageError
from gitckpt.pusher import Allowed, Pusher, Pushing
from gitckpt.repo.given import from_here
from gitckpt.repo.reader import Reader
from gitckpt.repo.remote import Remote, chosen
from gitckpt.repo.worktree import WorkTree
from gitckpt.trajectory.paths import path_data
from gitckpt.views.transfer import push_lines

if TYPE_CHECKING:
    from collections.abc import Sequence


def push(
    remote: str | None = None,
    *,
    sessions: Sequence[str] = (),
    all: bool = False,
    allow: Sequence[str] = (),
    allow_all: bool = False,
    dry_run: bool = False,
    json: bool = False,
) -> int:
    """Send sessions: the named ones, all that were recorded here, or the one of this work tree."""
    if all and sessions:
        raise UsageError("--all and --session cannot both be meant", "choose one")
    reader = Reader()
    name = chosen(reader.repository, remote, pushing=True)
    wanted = _wanted(reader, sessions, all=all)
    tree = WorkTree(reader.repository, render.say, lenient=True)
    allowed = Allowed(from_here(reader.repository, allow), allow, allow_all)
    asking = render.is_asked() and not json
    note = ""
    with ending_by_signal(), Progress(f"push to {name}") as tell:
        pusher = Pusher(tree, Remote(reader.repository, name, pushing=True, asking=asking, tell=tell), tell)
        pushing = pusher.plan(wanted, allowed=allowed)
        if not dry_run:
            note = pusher.carry_out(pushing)
    tree.close()
    document = push_document(pushing, done=not dry_run, note=note)
    if json:
        render.json(document)
    else:
        render.out(push_lines(document))
    return 1 if pushing.is_barred else 0


def _wanted(reader: Reader, names: Sequence[str], *, all: bool) -> list[str]:
    if names:
        unknown = [name for name in names if not reader.journal.lines().get(name)]
        if unknown:
            raise UnknownId(f"no session {unknown[0]!r}", "gitckpt sessions --all lists them")
        return list(names)
    if all:
        fetched = reader.journal.origins()
        return [id for id in reader.journal.lines() if id not in fetched]
    session = reader.current_session()
    if session is None:
        raise Refused("nothing has been recorded in this work tree, so there is nothing to send", "gitckpt push --all")
    return [session.id]


def push_document(pushing: Pushing, *, done: bool, note: str) -> dict[str, Any]:
    """Return what `push --json` prints."""
    content = pushing.content
    return {
        "schema": "gitckpt.push/1",
        "done": done,
        "remote": pushing.remote,
        "sessions": pushing.sessions,
        "lines": len(pushing.lines),
        "tags": len(pushing.tags) + len(pushing.moved_tags),
        "events": len(content.events),
        "commits": len(content.others),
        "objects": content.objects,
        "behind": sorted(set(pushing.behind)),
        "clashes": pushing.clashes,
        "barred": [
            {"path": path_data(row.path) if row.path else None, "checkpoint": row.where, "reason": row.reason}
            for row in pushing.barred
        ],
        "note": note,
    }
