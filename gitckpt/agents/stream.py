"""What a stream of an agent's bytes holds for us: blocks with where they were said, and tool boundaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from gitckpt.agents.json_lines import Found, JsonLines
from gitckpt.agents.signals import Boundary, Called, Closed, Lost, Opened, Said, Signal
from gitckpt.agents.spoken import Spoken, Told
from gitckpt.protocol.reader import BlockReader

if TYPE_CHECKING:
    from gitckpt.protocol.blocks import Diagnostic

#: Reads one event of a client. Never raises, whatever the event.
Decode = Callable[[dict[str, Any]], Iterator[Signal]]

#: What comes out of a stream, in order.
Item = Told | Boundary | Opened | Closed | Lost

#: What may stand after the footer of a block and is nothing that the agent went on to say.
FRAME = b"=`*>_~ \t\r\n\xa0"


class Stream(Protocol):
    """Feed it bytes, and it returns what has ended by then. Chunking changes nothing but which blocks are `late`.

    `lines` says what the lines of blocks and diagnostics are counted in.
    """

    lines: str

    def feed(self, data: bytes) -> list[Item]: ...

    def read_on(self, items: list[Item], data: bytes) -> list[Item]:
        """What was read last, and what comes right after it, which is read together with it."""
        ...

    def close(self) -> list[Item]: ...

    def take_diagnostics(self) -> list[Diagnostic]: ...


class Channel:
    """The signals of a stream of JSON lines, as one client writes them. Never raises; memory is bounded."""

    def __init__(self, decode: Decode) -> None:
        self._decode, self._lines = decode, JsonLines()

    def feed(self, data: bytes) -> list[Signal]:
        """The signals of the lines that end within this chunk, in order."""
        return self._signals(self._lines.feed(data))

    def finish(self) -> list[Signal]:
        """The signals of a last line that has no end."""
        return self._signals(self._lines.close())

    def _signals(self, found: list[Found]) -> list[Signal]:
        return [signal for event in found for signal in ([event] if isinstance(event, Lost) else self._decode(event))]


class EventStream:
    """JSON lines of a client. A block is late where a tool boundary was read together with it: the tool may have run
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
    """Plain text: anything that stands there is taken for the agent's words. A block is late where more was read
    together with it."""

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
    """Whether the agent had said more when this read ended: more than the frame of a block follows its end."""
    tail = chunk.rpartition(b"END")[2]
    for sequence in (b"\x1b[0m", b"\x1b[K", b"\x1b[m", "＝".encode()):
        tail = tail.replace(sequence, b"")
    return bool(tail.strip(FRAME))


def _with_late(items: list[Item]) -> list[Item]:
    """The items with `late` said of each block that a tool boundary follows."""
    tools = (place for place, item in enumerate(items) if isinstance(item, Boundary) and item.kind != "turn")
    last = max(tools, default=-1)
    return [item._replace(late=place < last) if isinstance(item, Told) else item for place, item in enumerate(items)]
