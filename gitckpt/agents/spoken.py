"""Turns an agent's words into blocks: each message is read by itself, and each of its blocks is returned once."""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from gitckpt.agents.signals import Boundary, Opened, Said, Signal
from gitckpt.protocol.reader import BlockReader, encoded
from gitckpt.trajectory.sources import Source, digest_of

if TYPE_CHECKING:
    from gitckpt.protocol.blocks import Block, Diagnostic

#: How many messages are remembered in order to recognize repeated words.
MOST_MESSAGES: Final = 1024

#: The maximum number of texts that may be arriving in pieces at a time.
MOST_PARTS: Final = 8


class Told(NamedTuple):
    """A block of the agent's own. `source` says where it was said, None if unknown; `late` says that the agent had
    moved on before the block was read."""

    block: Block
    source: Source | None = None
    late: bool = False


class Spoken:
    """Takes what one client says, signal by signal, and returns the blocks completed so far.

    Messages may come whole, in pieces, or both, and any number of times. The line numbers of blocks and diagnostics
    count the agent's words only, from 1. A piece is never read as the continuation of another message's piece.
    """

    def __init__(self, client: str) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._client, self._session = client, ""
        self._lines = 0
        self._parts: dict[tuple[str, str], _Part] = {}
        self._given: OrderedDict[str, Counter[str]] = OrderedDict()
        self._whole: OrderedDict[int, None] = OrderedDict()

    def hear(self, signal: Signal) -> list[Told]:
        """Return the blocks that this signal completes."""
        if isinstance(signal, Said):
            told = self._end_parts(but=signal.message)
            return told + (self._hear_whole(signal) if signal.whole else self._hear_piece(signal))
        if isinstance(signal, Opened) and signal.session and signal.session != self._session:
            told = self._end_parts()
            self._session = signal.session
            return told
        # an agent's words come before the tool call that they announce
        return self._end_parts() if isinstance(signal, Boundary) else []

    def close(self) -> list[Told]:
        """Return the blocks that the end of the stream completes."""
        return self._end_parts()

    def take_diagnostics(self) -> list[Diagnostic]:
        """Return the diagnostics of the messages that have ended since the last call."""
        taken, self.diagnostics = self.diagnostics, []
        return taken

    def _hear_piece(self, said: Said) -> list[Told]:
        key = (said.message, said.part)
        part = self._parts.get(key)
        if part is None:
            part = self._parts[key] = _Part(self._lines)
        told = self._new(said.message, part, part.feed(said.text))
        if len(self._parts) > MOST_PARTS:
            told += self._end_part(next(iter(self._parts)))
        return told

    def _hear_whole(self, said: Said) -> list[Told]:
        """Read a whole text. It repeats what pieces of the message have said; that is not returned again."""
        for key in [key for key in self._parts if key[0] == said.message]:
            del self._parts[key]
        if _remember(self._whole, hash((self._session, said.message, said.text))):
            return []
        part = _Part(self._lines)
        blocks = part.feed(said.text) + part.close()
        return self._ended(said.message, part, blocks)

    def _end_parts(self, but: str | None = None) -> list[Told]:
        return [told for key in list(self._parts) if key[0] != but for told in self._end_part(key)]

    def _end_part(self, key: tuple[str, str]) -> list[Told]:
        part = self._parts.pop(key)
        return self._ended(key[0], part, part.close())

    def _ended(self, message: str, part: _Part, blocks: list[Block]) -> list[Told]:
        self.diagnostics += part.diagnostics()
        self._lines = max(self._lines, part.last_line)
        return self._new(message, part, blocks)

    def _new(self, message: str, part: _Part, blocks: list[Block]) -> list[Told]:
        """Return the blocks that have not yet been seen in the message."""
        given = self._given.pop(f"{self._session} {message}", Counter())
        self._given[f"{self._session} {message}"] = given
        if len(self._given) > MOST_MESSAGES:
            self._given.popitem(last=False)
        told = []
        for block in blocks:
            digest = digest_of(block)
            part.seen[digest] += 1
            if part.seen[digest] > given[digest]:
                given[digest] = part.seen[digest]
                source = Source(self._client, self._session, message, digest_of(block, given[digest]))
                told.append(Told(block, source))
        return told


class _Part:
    """One text of a message while it is being read. `first` is the number of lines of words before it."""

    def __init__(self, first: int) -> None:
        self.seen: Counter[str] = Counter()
        self.last_line = self._first = first
        self._reader = BlockReader()
        self._half = ""  # the first surrogate of a pair that was split between two pieces

    def feed(self, text: str) -> list[Block]:
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        text = text[: len(text) - len(self._half)]
        self.last_line += text.count("\n")
        return self._placed(self._reader.feed(encoded(text)))

    def close(self) -> list[Block]:
        self.last_line += 1
        return self._placed(self._reader.feed(encoded(self._half)) + self._reader.close())

    def diagnostics(self) -> list[Diagnostic]:
        return [replace(found, line=found.line + self._first) for found in self._reader.take_diagnostics()]

    def _placed(self, blocks: list[Block]) -> list[Block]:
        return [
            replace(block, line=block.line + self._first, end_line=block.end_line + self._first) for block in blocks
        ]


def _remember(known: OrderedDict[int, None], key: int) -> bool:
    """Return whether the key is known already, and remember it."""
    was_known = key in known
    known[key] = None
    known.move_to_end(key)
    if len(known) > MOST_MESSAGES:
        known.popitem(last=False)
    return was_known
