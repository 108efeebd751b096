"""`gitckpt show ID`: one event in full, or a file as it was."""

from __future__ import annotations

import os

from gitckpt.cli import render
from gitckpt.errors import Refused
from gitckpt.repo.given import from_here
from gitckpt.repo.reader import Reader
from gitckpt.repo.results import Results

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.trajectory.events import Event


def show(id: str, *, json: bool = False, yaml: bool = False, path: str | None = None, all: bool = False) -> int:
    """Print an event with what it changed; with `yaml` its record, with `path` the bytes of one file of its
    snapshot."""
    reader = Reader()
    found = reader.find(id, everywhere=all)
    if found.note and not json:
        render.say(found.note)
    event = found.event
    if path is not None:
        return _print_file(reader, event, from_here(reader.repository, [path])[0])
    if yaml:
        render.out([render.shown(event.text.rstrip("\n"))])
        return 0
    from gitckpt.repo.claims import checked_claims

    session = reader.journal.session(event.session)
    event = session.event(event.commit) or event
    parent, files = session.parent(event), reader.files([event], [session])
    claims = checked_claims(reader, [event], [session], files).get(event.commit)
    runs = Results(reader.repository).at([event]).get(event.commit, [])
    if json:
        from gitckpt.views.event_json import event_json

        render.json(event_json(event, parent=parent, files=files[event.commit], claims=claims, runs=runs))
        return 0
    from gitckpt.repo.evidence import stale_facts
    from gitckpt.views.show import show_lines

    stale = stale_facts(reader.repository, event)
    render.paged(
        show_lines(
            event, parent=parent, files=files[event.commit], stale=stale, claims=claims, runs=runs, style=render.style()
        )
    )
    return 0


def _print_file(reader: Reader, event: Event, path: bytes) -> int:
    from gitckpt.repo.trees import blob_at

    content = blob_at(reader.git, event.commit, path)
    if content is None:
        raise Refused(
            f"{event.ref} has no file {os.fsdecode(path or b'.')!r}",
            "paths are meant from where you stand; git ls-tree -r --name-only " + event.commit[:12] + " lists them",
        )
    render.raw(content)
    return 0
