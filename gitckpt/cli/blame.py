"""`gitckpt blame FILE`: which checkpoint wrote each line."""

from __future__ import annotations

import os
import re
import stat

from gitckpt.cli import render
from gitckpt.errors import Refused, UsageError
from gitckpt.repo.given import from_here
from gitckpt.repo.reader import Reader
from gitckpt.views.blame import blame_document, blame_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.repo.blame import Line
    from gitckpt.trajectory.events import Event


def blame(file: str, *, at: str | None = None, lines: str = "", json: bool = False) -> int:
    """Print each line of a file with the event that wrote it; `at` is a checkpoint, None the current work tree."""
    if lines and not re.fullmatch(r"\d{1,9}(,\d{1,9})?", lines, re.ASCII):
        raise UsageError(f"--lines {lines!r} are no lines", "from and to: --lines 10,20")
    reader = Reader()
    (path,) = from_here(reader.repository, [file])
    tip = reader.find(at or "last").event
    found = _blamed(reader, tip, path, lines, now=at is None)
    known = _events(reader, tip)
    rows = [(known.get(commit) if commit else None, number, text) for commit, number, text in found]
    if json:
        render.json(blame_document(path, tip.ref if at else "", rows))
    else:
        render.out(blame_lines(rows, render.style()))
    return 0


def _events(reader: Reader, tip: Event) -> dict[str, Event]:
    return {event.commit: event for event in reader.journal.events([tip.commit])}


def _blamed(reader: Reader, tip: Event, path: bytes, lines: str, *, now: bool) -> list[Line]:
    from gitckpt.repo.blame import blame as blamed
    from gitckpt.repo.blame import blame_now
    from gitckpt.repo.trees import blob_at

    shown, full = os.fsdecode(path), reader.repository.at(path)
    if now and not _is_file(full):
        raise Refused(f"there is no file {shown!r}", "--at ID shows it as it was")
    old = blob_at(reader.git, tip.commit, path)
    content = _content(full) if now else old
    if content is None:
        raise Refused(f"{tip.ref} has no file {shown!r}", f"gitckpt diff start {tip.id or tip.commit[:12]} lists files")
    last = content.count(b"\n") + (not content.endswith(b"\n") if content else 0)
    if lines and int(lines.partition(",")[0] or 0) not in range(1, last + 1):
        raise UsageError(f"{shown!r} has {last:,} lines", "choose from those: --lines 1,20")
    if not content:
        return []
    if now and old is None:
        return [(None, number, text) for number, text in _cut(content, lines)]
    return (
        blame_now(reader.repository, tip.commit, path, lines)
        if now
        else blamed(reader.repository, tip.commit, path, lines)
    )


def _is_file(path: bytes) -> bool:
    """Return whether the path is a file or a link. A link counts as itself: its target is another path."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def _content(path: bytes) -> bytes:
    try:
        if os.path.islink(path):
            return os.readlink(path)
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read()
    except OSError as error:
        raise Refused(f"{os.fsdecode(path)!r} cannot be read: {error.strerror}") from error


def _cut(content: bytes, lines: str) -> list[tuple[int, bytes]]:
    """Return the lines of a file that no event has, with their numbers."""
    numbered = list(enumerate(content.removesuffix(b"\n").split(b"\n"), 1))
    first, comma, last = lines.partition(",")
    if not first:
        return numbered
    return numbered[int(first) - 1 : int(last) if comma and last else None]
