"""`gitckpt sessions`: the sessions of this work tree."""

from __future__ import annotations

from gitckpt.cli import render
from gitckpt.repo.reader import Reader
from gitckpt.views.text import count


def sessions(*, json: bool = False, all: bool = False) -> int:
    """List sessions, oldest first, with agent, dates, counts and size; with `all`, also those of other work trees."""
    from gitckpt.repo.sizes import session_sizes
    from gitckpt.views.sessions import session_row, sessions_document, sessions_lines

    reader = Reader()
    found = reader.sessions(everywhere=all)
    sizes = session_sizes(reader.git, found)
    origins = reader.journal.origins() if all else {}
    rows = [session_row(session, sizes.get(session.id), origins.get(session.id)) for session in found]
    if json:
        render.json(sessions_document(rows))
        return 0
    render.out(sessions_lines(rows, render.style(), render.columns()))
    if not rows and (others := len(reader.sessions(everywhere=True))):
        render.say(f"gitckpt sessions --all lists {count(others, 'session')} of other work trees and remotes")
    return 0
