"""`gitckpt report`: sessions as one HTML page that opens from disk."""

from __future__ import annotations

import os

from gitckpt import views
from gitckpt.cli import render
from gitckpt.cli.elsewhere import sessions_elsewhere
from gitckpt.cli.log import drawn_beside, losses, tell_losses
from gitckpt.cli.progress import Progress
from gitckpt.errors import GitckptError, Refused, UsageError
from gitckpt.repo.claims import checked_claims
from gitckpt.repo.evidence import last_with_facts, stale_facts
from gitckpt.repo.patches import patches
from gitckpt.repo.private import clear, directory, is_plain_file, write_file
from gitckpt.repo.reader import Reader
from gitckpt.repo.results import Results
from gitckpt.trajectory.events import is_readable
from gitckpt.trajectory.session import Session
from gitckpt.views.report.contents import Contents
from gitckpt.views.report.page import BEGINNING, SCRIPTS, STYLES, TEMPLATE, report_page

#: The default location of the page: outside the work tree, whose status it must not change.
DEFAULT = b"report.html"


#: The hint if the page cannot be written to its location.
FREE_NAME = "gitckpt report -o FILE names another place"


class Unwritable(GitckptError):
    """The page could not be written; an existing file is unchanged."""

    exit_status = 4


def report(*, output: str | None = None, session: str | None = None, all: bool = False) -> int:
    """Write the page of the current session, of one by id, or of all of this work tree; `-` is standard output.

    Raises UsageError if nothing is on record, Refused if another file is in the way.
    """
    reader = Reader()
    sessions = _sessions(reader, session, everything=all)
    path = _default(reader) if output is None else os.fsencode(output)
    if output not in (None, "-"):
        _refuse_to_overwrite(path)
    page = page_of(reader, sessions)
    if output == "-":
        render.raw(page)
    else:
        _write(path, page)
        render.out([render.shown(f"{os.fsdecode(os.path.realpath(path))}: open it in a browser")])
    return tell_losses(losses(reader, sessions))


def page_of(reader: Reader, sessions: list[Session]) -> bytes:
    """Return the page of these sessions. Raises Damaged if part of them cannot be read."""
    return report_page(_contents(reader, sessions), *_parts()).encode("utf-8", "backslashreplace")


def _default(reader: Reader) -> bytes:
    """Return our default path, after removing anything there that is not a regular file: it would be followed, or
    block.
    """
    directory(reader.repository.private_dir)
    path = os.path.join(reader.repository.private_dir, DEFAULT)
    if not is_plain_file(path):
        clear(path)
    return path


def _sessions(reader: Reader, id: str | None, *, everything: bool) -> list[Session]:
    if id is not None and everything:
        raise UsageError("--session and --all ask for two different things", "gitckpt report --help")
    if id is not None:
        return [reader.session(id)]
    found = reader.sessions() if everything else list(filter(None, [reader.current_session()]))
    if not found:
        there, *help = sessions_elsewhere(reader, "report") or ["", "gitckpt wrap -- CMD records an agent"]
        said = "; ".join(filter(None, ("nothing has been recorded in this work tree yet", there)))
        raise UsageError(said, "; ".join(help))
    return found


def _contents(reader: Reader, sessions: list[Session]) -> list[Contents]:
    with Progress("reading the sessions") as progress:
        found = []
        for number, session in enumerate(sessions):
            progress(number, len(sessions))
            found.append(_contents_of(reader, session))
        return found


def _contents_of(reader: Reader, session: Session) -> Contents:
    attempts = drawn_beside(reader, [session], session.events)
    tried = [Session(drawn.row["session"], drawn.events, {}) for drawn in attempts]
    events = [*session.events, *(event for drawn in attempts for event in drawn.events)]
    changed = reader.files(events, [session, *tried])
    pairs = [(commit, parent) for commit, parent in {e.commit: e.parent for e in events}.items() if changed[commit]]
    claims = checked_claims(reader, events, [session, *tried], changed)
    runs = Results(reader.repository).at(events)
    return Contents(session, changed, patches(reader.git, pairs), claims, _stale(reader, session), runs, attempts)


def _stale(reader: Reader, session: Session) -> list[tuple[str, str]]:
    """Return the facts in force whose files have changed, for a session of this very work tree."""
    newest = last_with_facts([event for event in session.on_line(session.active_line) if is_readable(event)])
    if newest is None or newest.worktree != reader.repository.name:
        return []
    return [(fact["text"], fact["source"]) for fact in stale_facts(reader.repository, newest)]


def _parts() -> tuple[str, str, str]:
    """Return template, style and script from the package."""
    template, style, script = ("\n".join(map(_part, names)) for names in ((TEMPLATE,), STYLES, SCRIPTS))
    return template, style, script


def _part(name: str) -> str:
    # `importlib.resources` would also find it, but takes longer to import than everything else that is read here
    with open(os.path.join(os.path.dirname(views.__file__), "report_page", name), encoding="utf-8") as file:
        return file.read()


def _refuse_to_overwrite(path: bytes) -> None:
    """Refuse to overwrite any file except an earlier report or an empty file."""
    if not os.path.isfile(path):
        return
    try:
        with open(path, "rb") as file:
            beginning = file.read(len(BEGINNING))
    except OSError as error:
        raise Refused(f"{os.fsdecode(path)!r} cannot be read: {error.strerror}", FREE_NAME) from error
    if beginning not in (b"", BEGINNING.encode()):
        raise Refused(f"{os.fsdecode(path)!r} is there and is no report of gitckpt's; nothing was written", FREE_NAME)


def _write(path: bytes, page: bytes) -> None:
    """Write the page: to a temporary file first, so that it is either complete or absent; directly if the target is not
    a regular file.
    """
    target = os.path.realpath(path)
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as device:
                device.write(page)
        else:
            write_file(target, page, mode=_mode(target))
    except OSError as error:
        raise Unwritable(f"{os.fsdecode(path)!r} cannot be written: {error.strerror}", FREE_NAME) from error


def _mode(target: bytes) -> int | None:
    """Return the permission bits of the existing page, which the user may have restricted; None for the default."""
    try:
        return os.stat(target).st_mode & 0o777
    except OSError:
        return None
