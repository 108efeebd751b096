"""`gitckpt fetch`: sessions from a remote, to look at and roll back to here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gitckpt.cli import render
from gitckpt.cli.progress import Progress
from gitckpt.cli.transfer import ending_by_signal
from gitckpt.errors import Refused
from gitckpt.fetcher import MORE, NEW, REFUSED, Fetcher, Fetching
from gitckpt.repo.remote import Remote, chosen
from gitckpt.repo.repository import discover
from gitckpt.repo.worktree import WorkTree
from gitckpt.views.transfer import fetch_lines

if TYPE_CHECKING:
    from collections.abc import Sequence


def fetch(remote: str | None = None, *, sessions: Sequence[str] = (), dry_run: bool = False, json: bool = False) -> int:
    """Fetch the named sessions, or all that the remote has. Raises Refused if none of them could be taken."""
    repository = discover()
    name = chosen(repository, remote)
    tree = WorkTree(repository, render.say, lenient=True)
    asking = render.is_asked() and not json
    with ending_by_signal(), Progress(f"fetch from {name}") as tell:
        fetcher = Fetcher(tree, Remote(repository, name, asking=asking, tell=tell))
        fetching = fetcher.plan(sessions)
        if not dry_run:
            fetcher.carry_out(fetching)
    tree.close()
    refused, taken = fetching.of(REFUSED), fetching.of(NEW, MORE)
    if refused and not taken and not dry_run:
        told = "\n".join(f"  {session.id}: {session.reason}" for session in refused[:20])
        raise Refused(f"nothing was taken from {name}\n{told}", "gitckpt sessions --all shows what is here")
    document = fetch_document(fetching, done=bool(taken) and not dry_run)
    if json:
        render.json(document)
    else:
        render.out(fetch_lines(document))
        if taken and not dry_run:
            render.say(
                f"gitckpt log --session {taken[-1].id} shows one, gitckpt rollback {taken[-1].id}/last goes there"
            )
    return 1 if refused else 0


def fetch_document(fetching: Fetching, *, done: bool) -> dict[str, Any]:
    """Return what `fetch --json` prints."""
    return {
        "schema": "gitckpt.fetch/1",
        "done": done,
        "remote": fetching.remote,
        "sessions": [
            {"id": s.id, "state": s.state, "events": s.events, "lines": len(s.lines), "reason": s.reason}
            for s in fetching.sessions
        ],
        "strange": fetching.strange,
    }
