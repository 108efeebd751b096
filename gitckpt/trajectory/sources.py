"""The source of a block: what identifies it, so that messages that are read again record nothing twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gitckpt.protocol.blocks import Block

#: Stands for a message whose id the client did not provide.
UNKNOWN = "*"

#: The length from which on a message id counts as globally unique, whatever session it is in: a client that continues
#: or forks a session under another id begins with a copy of it.
UNIQUE = 20

#: The maximum length of a client's id; a longer or unusual one is kept as a hash.
LONGEST = 80


class Source(NamedTuple):
    """Client, its session, the message in it, and a hash of the block.

    The hash stands for the block's position in the message: it stays the same if reading begins in mid-message, and it
    differs if a client that renumbers messages on resume gives the same id to other content.
    """

    client: str
    session: str
    message: str
    digest: str

    def __str__(self) -> str:
        return " ".join(_safe(part) for part in self)


def read_source(text: str) -> Source | None:
    """Parse the output of `str(Source)`; None for any other text."""
    parts = text.split(" ")
    return Source(*parts) if len(parts) == 4 and all(parts) else None


class Heard(NamedTuple):
    """How far a client's record of its session has been read: a position whose meaning its reader knows."""

    client: str
    session: str
    place: str

    def __str__(self) -> str:
        return " ".join(_safe(part) for part in self)


def place_heard(text: str, client: str, session: str) -> str:
    """Return the position in the output of `str(Heard)`; "" for any other text, client or session."""
    head, _, place = text.rpartition(" ")
    return place if head == f"{_safe(client)} {_safe(session)}" and place != UNKNOWN else ""


def digest_of(block: Block, occurrence: int = 1) -> str:
    """Return a hash of what a block says; word-for-word repetitions in the same message have their own `occurrence`."""
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
    """The sources on record. A source without a message id equals any other with its session and hash; one with the
    hash and the message id of another session is a copy of it, if that id is globally unique."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._messages: dict[tuple[str, str, str], set[str]] = {}
        self._unique: set[tuple[str, str, str]] = set()
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Add a source in the format of `str(Source)`; any other text is ignored."""
        if source := read_source(text):
            self._messages.setdefault(_key(source), set()).add(source.message)
            self._unique.add((source.client, source.message, source.digest))

    def holds(self, text: str) -> bool:
        """Return whether this block of this message is on record; `text` is its source in the format of
        `str(Source)`.
        """
        source = read_source(text)
        if source is None:
            return False
        if len(source.message) >= UNIQUE and (source.client, source.message, source.digest) in self._unique:
            return True
        messages = self._messages.get(_key(source))
        return bool(messages and (source.message == UNKNOWN or messages & {source.message, UNKNOWN}))


def _key(source: Source) -> tuple[str, str, str]:
    return source.client, source.session, source.digest
