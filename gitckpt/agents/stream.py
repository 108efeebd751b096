"""Reads a stream of an agent's bytes: yields blocks with where they were said, and tool boundaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from gitckpt.agents.json_lines import Found, JsonLines
from gitckpt.agents.signals import Boundary, Called, Closed, Lost, Opened, Said, Signal
from gitckpt.agents.spoken import Spoken, Told
from gitckpt.protocol.reader import BlockReader

if TYPE_CHECKING:
    from gitckpt.protocol.blocks import Diagnostic

#: Decodes one event of a client. Never raises, whatever the event.
Decode = Callable[[dict[str, Any]], Iterator[Signal]]

#: What a stream yields, in order.
Item = Told | Boundary | Opened | Closed | Lost

#: Bytes that may follow a block's footer without the agent having gone on to say more.
FRAME = b"=`*>_~ \t\r\n\xa0"


class Stream(Protocol):
    """Takes bytes, and returns the items completed so far. Chunking affects nothing but which blocks are `late`.

    `lines` names what the line numbers of blocks and diagnostics count.
    """

    lines: str

    def feed(self, data: bytes) -> list[Item]: ...

    def read_on(self, items: list[Item], data: bytes) -> list[Item]:
        """Return the items read last, together with those in `data`, which came right after them."""
        ...

    def close(self) -> list[Item]: ...

    def take_diagnostics(self) -> list[Diagnostic]: ...


class Channel:
    """The signals in a stream of one client's JSON lines. Never raises; memory is bounded."""

    def __init__(self, decode: Decode) -> None:
        self._decode, self._lines = decode, JsonLines()

    def feed(self, data: bytes) -> list[Signal]:
        """Return the signals of the lines that end within this chunk, in order."""
        return self._signals(self._lines.feed(data))

    def finish(self) -> list[Signal]:
        """Return the signals of a last line without a newline."""
        return self._signals(self._lines.close())

    def _signals(self, found: list[Found]) -> list[Signal]:
        return [signal for event in found for signal in ([event] if isinstance(event, Lost) else self._decode(event))]


class EventStream:
    """JSON lines of a client. A block is late if a tool boundary was read together with it: the tool may have run
    before the block was seen."""

    lines = "the agent's words"

    def __init__(self, client: str, decode: Decode) -> None:
        self._channel, self._spoken = Channel(decode), Spoken(client)

    def feed(self, data: bytes) -> list[Item]:
        return self.read_on([], data)

    def read_on(self, items: list[Item], data: bytes) -> list[Item]:
        return _with_late([*items, *self._items(self._channel.feed(data))])

    def close(self) -> list[Item]:
        return [*_with_late(self._items(self._channel.finish())), *self._spoken.close()]

    def take_diagnostics(self) -> list[Diagnostic]:
        return self._spoken.take_diagnostics()

    def _items(self, signals: list[Signal]) -> list[Item]:
        items: list[Item] = []
        for signal in signals:
            items += self._spoken.hear(signal)
            if not isinstance(signal, Said | Called):
                items.append(signal)
        return items


class TextStream:
    """Plain text, all taken as the agent's words. A block is late if more text was read together with it."""

    lines = "the output"

    def __init__(self) -> None:
        self._reader = BlockReader()

    def feed(self, data: bytes) -> list[Item]:
        blocks = self._reader.feed(data)
        more = bool(blocks) and went_on(data)
        return [Told(block, late=more or place < len(blocks)) for place, block in enumerate(blocks, 1)]

    def read_on(self, items: list[Item], data: bytes) -> list[Item]:
        more = bool(data.strip(FRAME))
        said = [item._replace(late=item.late or more) if isinstance(item, Told) else item for item in items]
        return [*said, *self.feed(data)]

    def close(self) -> list[Item]:
        return [Told(block) for block in self._reader.close()]

    def take_diagnostics(self) -> list[Diagnostic]:
        return self._reader.take_diagnostics()


def went_on(chunk: bytes) -> bool:
    """Return whether the agent had said more when this read ended: whether more than a block's frame follows the last
    END."""
    tail = chunk.rpartition(b"END")[2]
    for sequence in (b"\x1b[0m", b"\x1b[K", b"\x1b[m", "＝".encode()):
        tail = tail.replace(sequence, b"")
    return bool(tail.strip(FRAME))


def _with_late(items: list[Item]) -> list[Item]:
    """Mark as `late` each block that is followed by a tool boundary."""
    tools = (place for place, item in enumerate(items) if isinstance(item, Boundary) and item.kind != "turn")
    last = max(tools, default=-1)
    return [item._replace(late=place < last) if isinstance(item, Told) else item for place, item in enumerate(items)]
