"""Reads the files in which clients keep their sessions, each time from where the last reading ended."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, NamedTuple
from urllib.parse import quote

from gitckpt.agents.json_lines import MAX_LINE
from gitckpt.agents.line_place import COMPARED, follows, offset_of, place_at
from gitckpt.agents.lookup import at
from gitckpt.agents.regular import open_regular
from gitckpt.agents.signals import Lost, Opened, Signal
from gitckpt.agents.stream import Channel

if TYPE_CHECKING:
    from gitckpt.agents.stream import Decode

#: The number of bytes per read, and the maximum size of a file that is read whole.
CHUNK: Final = 1 << 20
MAX_DOCUMENT: Final = 64 * 1024 * 1024


class Whereabouts(NamedTuple):
    """What the path of a session file is composed of: the home directory, the working directory of the run, the
    client's session id."""

    home: str
    cwd: str
    session: str


class SessionFile(NamedTuple):
    """How a client keeps its sessions: as `lines` that are only appended to, as a `document` that is rewritten each
    time, or in a `database`. `path` computes the path, "" if only the client knows it. `lags` says that words may be
    written down only after the tools that follow them have run."""

    form: Literal["lines", "document", "database"]
    decode: Callable[[], Decode]
    path: Callable[[Whereabouts], str] = lambda where: ""
    lags: bool = False


class Reading(NamedTuple):
    """What was read, and the `place` to go on from. The place is opaque."""

    signals: tuple[Signal, ...]
    place: str


def read_session(file: SessionFile, path: str, session: str = "", place: str = "") -> Reading:
    """Read what a session file holds beyond `place`; all of it if `place` is "" or what came before it is no longer
    there.

    A file that does not exist yet, cannot be read or is not a regular file yields a Lost and keeps the place. `session`
    selects a session in a database.
    """
    try:
        match file.form:
            case "lines":
                return _read_lines(file, path, place)
            case "document":
                return _read_document(file, path, place)
            case "database":
                return _read_database(file, path, session, place)
    except OSError as error:
        return _unread(error, place)


def _unread(why: object, place: str) -> Reading:
    return Reading((Lost(f"the session file: {why}"),), place)


def _read_lines(file: SessionFile, path: str, place: str) -> Reading:
    """Read whole lines only: a line still being written is read next time."""
    channel, signals = Channel(file.decode()), list[Signal]()
    with open_regular(path) as lines:
        end = offset = lines.seek(_offset(lines, place))
        while chunk := lines.read(CHUNK):
            signals += channel.feed(chunk)
            end = offset + chunk.rfind(b"\n") + 1 if b"\n" in chunk else end
            offset += len(chunk)
        return Reading(tuple(signals), place_at(end, _before(lines, end)))


def _offset(lines: BinaryIO, place: str) -> int:
    """Return where to read on: 0 if this is not the file that was read, or if it was rewritten."""
    offset = offset_of(place) or 0
    if offset > os.fstat(lines.fileno()).st_size or not follows(place, _before(lines, offset)):
        return 0
    return offset


def _before(lines: BinaryIO, offset: int) -> bytes:
    begin = lines.seek(max(offset - COMPARED, 0))
    return lines.read(offset - begin)


def _read_document(file: SessionFile, path: str, place: str) -> Reading:
    with open_regular(path) as document:
        content = document.read(MAX_DOCUMENT + 1)
    if len(content) > MAX_DOCUMENT:
        return _unread(f"it is larger than {MAX_DOCUMENT // 1024**2} MiB", place)
    try:
        value = json.loads(content.decode("utf-8", "replace"))
    except (ValueError, RecursionError):  # the client is still writing it
        return _unread("it is no JSON", place)
    return Reading(tuple(file.decode()(value)) if isinstance(value, dict) else (), "")


#: The parts of a session's messages, in the order in which they were said.
_PARTS: Final = """
    SELECT part.id, part.message_id, part.data, message.data FROM part JOIN message ON message.id = part.message_id
    WHERE part.session_id = ? AND part.id > ? AND length(part.data) <= ? AND length(message.data) <= ?
    ORDER BY part.id
"""


def _read_database(file: SessionFile, path: str, session: str, place: str) -> Reading:
    """Open read-only: nothing of the client's is created or repaired."""
    import sqlite3

    open_regular(path).close()
    uri = f"file:{quote(os.path.abspath(path))}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=1.0)) as database:
            rows = database.execute(_PARTS, (session, place, MAX_LINE, MAX_LINE)).fetchall()
    except sqlite3.Error as error:
        return _unread(error, place)
    return _read_parts(file.decode(), rows, session, place)


def _read_parts(decode: Decode, rows: list[tuple[str, str, str, str]], session: str, place: str) -> Reading:
    """Return the signals of the parts before the first one that is still being written. An unfinished part of an
    earlier message does not stop this: the client was killed while writing it."""
    signals: list[Signal] = [Opened(session)]
    last = rows[-1][1] if rows else ""
    for id, message, data, about in rows:
        part = _parsed(data)
        if isinstance(part, dict) and at(_parsed(about), "role") == "assistant":
            if message == last and part.get("type") in ("text", "tool") and not _has_ended(part):
                break
            signals += decode({"type": part.get("type"), "part": part | {"id": id, "messageID": message}})
        place = str(id)
    return Reading(tuple(signals), place)


def _parsed(data: object) -> object:
    """Return the JSON of a cell; None for any other content."""
    try:
        return json.loads(data) if isinstance(data, str | bytes) else None
    except (ValueError, RecursionError):
        return None


def _has_ended(part: object) -> bool:
    return bool(at(part, "time", "end") or at(part, "state", "time", "end"))
