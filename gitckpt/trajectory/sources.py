"""Where a block was said: what tells it from all others, so that words that are read again record nothing twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gitckpt.protocol.blocks import Block

#: Stands for a message whose id the client did not tell.
UNKNOWN = "*"

#: Characters from which on the id of a message is nobody else's, whatever session it stands in: a client that goes on
#: from a session under another id, or forks it, begins with a copy of it.
UNIQUE = 20

#: Characters of a client's id; a longer one, or an odd one, is kept as a hash.
LONGEST = 80


class Source(NamedTuple):
    """Client, its session, the message in it, and a hash of the block.

    The hash stands for the block's place in the message: it is the same when reading begins in mid-message, and some
    clients count their messages anew when they resume a session, so that the same id comes with other words.
    """

    client: str
    session: str
    message: str
    digest: str

    def __str__(self) -> str:
        return " ".join(_safe(part) for part in self)


def read_source(text: str) -> Source | None:
    """The source that `str` wrote; None for any other text."""
    parts = text.split(" ")
    return Source(*parts) if len(parts) == 4 and all(parts) else None


class Heard(NamedTuple):
    """How far the record that a client keeps of its session has been read: a place that its reader knows."""

    client: str
    session: str
    place: str

    def __str__(self) -> str:
        return " ".join(_safe(part) for part in self)


def place_heard(text: str, client: str, session: str) -> str:
    """The place in a Heard as `str` wrote it; "" for any other text, and for another client or session."""
    head, _, place = text.rpartition(" ")
    return place if head == f"{_safe(client)} {_safe(session)}" and place != UNKNOWN else ""


def digest_of(block: Block, occurrence: int = 1) -> str:
    """A hash of what a block says; one that its message says again word for word has an `occurrence` of its own."""
    said = json.dumps([block.kind, block.written, block.fields], sort_keys=True)
    digest = hashlib.sha256(said.encode()).hexdigest()[:16]
    return digest if occurrence == 1 else f"{digest}.{occurrence}"


def _safe(part: str) -> str:
    if not part:
        return UNKNOWN
    if len(part) <= LONGEST and part.isascii() and part.isprintable() and not set(part) & set(' "\\'):
        return part
    return hashlib.sha256(part.encode("utf-8", "replace")).hexdigest()[:16]


class Sources:
    """The sources on record. One whose message is not known is the same as any with its session and hash; one with the
    hash and the message of another session is a copy of it, if no other message can have that id."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._messages: dict[tuple[str, str, str], set[str]] = {}
        self._unique: set[tuple[str, str, str]] = set()
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Take up a source as `str` wrote it; any other text is left aside."""
        if source := read_source(text):
            self._messages.setdefault(_key(source), set()).add(source.message)
            self._unique.add((source.client, source.message, source.digest))

    def holds(self, text: str) -> bool:
        """Whether this block of this message is on record; `text` is its source as `str` wrote it."""
        source = read_source(text)
        if source is None:
            return False
        if len(source.message) >= UNIQUE and (source.client, source.message, source.digest) in self._unique:
            return True
        messages = self._messages.get(_key(source))
        return bool(messages and (source.message == UNKNOWN or messages & {source.message, UNKNOWN}))


def _key(source: Source) -> tuple[str, str, str]:
    return source.client, source.session, source.digest
