"""Passes bytes on, one read at a time, and handles other events meanwhile."""

from __future__ import annotations

import os
import select

from gitckpt.process.descriptors import close_all, waiting_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    #: Which of the agent's streams some output came on; on a terminal there is only one.
    Stream = Literal["stdout", "stderr"]

#: The size of one read in bytes.
CHUNK = 65536

#: How many typed bytes may wait for the agent before we stop reading the keyboard.
MOST_TYPED = 65536

#: Seconds between two checks whether to go on waiting for a reader that takes nothing.
PATIENCE_STEP = 0.1


def _nothing() -> None:
    pass


class Source:
    """One output stream of the agent: read from `descriptor`, written to `sink`; both are -1 once closed.

    `before_close` is for another user of the same terminal.
    """

    def __init__(self, descriptor: int, sink: int, stream: Stream) -> None:
        self.descriptor, self.sink, self.stream = descriptor, sink, stream
        self.before_close: Callable[[], None] = _nothing

    def read(self, most: int = CHUNK) -> bytes | None:
        """Return what is there: None for nothing yet, b"" for the end, which a terminal reports as an error."""
        try:
            return os.read(self.descriptor, most)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def close(self) -> None:
        """Close both ends. If the agent writes on, it gets a SIGPIPE, or its terminal is hung up."""
        self.before_close()
        self.before_close = _nothing
        close_all([end for end in (self.descriptor, self.sink) if end >= 0])
        self.descriptor = self.sink = -1


class Relay:
    """Moves bytes from sources to their sinks, and calls `on_chunk(chunk, stream)` after each write, before the next
    read.

    A sink that takes nothing blocks the sources but nothing else; meanwhile `abandons` is asked whether to give it up.
    A source whose sink is gone is closed, after `on_chunk` has received what could not be written.
    """

    def __init__(
        self, sources: list[Source], on_chunk: Callable[[bytes, Stream], None], abandons: Callable[[], bool]
    ) -> None:
        self.sources: list[Source] = []
        self._on_chunk, self._abandons = on_chunk, abandons
        self._actions: dict[int, Callable[[], None]] = {}
        self._outputs: set[int] = set()
        self._everything, self._beside_output = select.poll(), select.poll()
        for source in sources:
            self._add(source)

    def _add(self, source: Source) -> None:
        self.sources.append(source)
        self._outputs.add(source.descriptor)
        self._actions[source.descriptor] = lambda: self._carry(source, source.read())
        self._everything.register(source.descriptor, select.POLLIN)

    def watch(self, descriptor: int, action: Callable[[], None], event: int = select.POLLIN) -> None:
        """Call `action` whenever the descriptor can be read (POLLIN) or written (POLLOUT)."""
        self._actions[descriptor] = action
        self._everything.register(descriptor, event)
        self._beside_output.register(descriptor, event)

    def unwatch(self, descriptor: int) -> None:
        """Stop watching the descriptor; no error if it is not watched."""
        if self._actions.pop(descriptor, None) is not None:
            self._everything.unregister(descriptor)
            self._beside_output.unregister(descriptor)

    def turn(self, seconds: float | None = None) -> None:
        """Wait until there is something to do, for at most `seconds`, and do it."""
        self._serve(self._everything, seconds)

    def _serve(self, poll: select.poll, seconds: float | None) -> set[int]:
        ready = {descriptor for descriptor, _ in poll.poll(None if seconds is None else max(0.0, seconds * 1000))}
        # Output last: while a sink stalls, the other descriptors are served, and they must not be served again for the
        # same event.
        for descriptor in sorted(ready, key=self._outputs.__contains__):
            action = self._actions.get(descriptor)
            if action is not None:
                action()
        return ready

    def _carry(self, source: Source, chunk: bytes | None) -> None:
        if chunk is None:
            return
        taken = self._write(source.sink, chunk)
        if chunk:
            self._on_chunk(chunk, source.stream)
        if not chunk or not taken:
            self._drop(source)

    def _write(self, sink: int, chunk: bytes) -> bool:
        left = memoryview(chunk)
        while left:
            try:
                left = left[os.write(sink, left) :]
            except BlockingIOError:
                if not self._wait_for_room(sink):
                    return False
            except OSError:
                return False
        return True

    def _wait_for_room(self, sink: int) -> bool:
        self._beside_output.register(sink, select.POLLOUT)
        try:
            while sink not in self._serve(self._beside_output, PATIENCE_STEP):
                if self._abandons():
                    return False
            return True
        finally:
            self._beside_output.unregister(sink)

    def _drop(self, source: Source) -> None:
        if source not in self.sources:  # a drain from within `on_chunk` has already reached its end
            return
        self.sources.remove(source)
        self._outputs.discard(source.descriptor)
        self._actions.pop(source.descriptor, None)
        self._everything.unregister(source.descriptor)
        source.close()

    def drain(self) -> None:
        """Pass on what is in the pipes at this moment, and no more, so that a writer that never pauses cannot block
        us."""
        for source in list(self.sources):
            left = waiting_bytes(source.descriptor)
            while left > 0 and (chunk := source.read(min(left, CHUNK))):
                self._carry(source, chunk)
                left -= len(chunk)


class Keyboard:
    """Passes what is typed at the user's terminal to the agent's terminal, the source `screen`.

    Neither side blocks the other: a paste that the agent does not take yet must not keep us from reading output that
    the agent wants to write first.
    """

    def __init__(self, relay: Relay, terminal: int, screen: Source) -> None:
        self._relay, self._terminal, self._agents = relay, terminal, os.dup(screen.descriptor)
        self._typed = b""
        relay.watch(terminal, self._pull)
        screen.before_close = self._close

    def _pull(self) -> None:
        try:
            typed = os.read(self._terminal, CHUNK)
        except OSError:  # hung up
            typed = b""
        self._typed += typed
        if not typed or len(self._typed) > MOST_TYPED:
            self._relay.unwatch(self._terminal)
        self._push()

    def _push(self) -> None:
        was_full = len(self._typed) > MOST_TYPED
        self._relay.unwatch(self._agents)
        self._typed = self._typed[self._accepted() :]
        if self._typed:
            self._relay.watch(self._agents, self._push, select.POLLOUT)
        if was_full and len(self._typed) <= MOST_TYPED:
            self._relay.watch(self._terminal, self._pull)

    def _accepted(self) -> int:
        try:
            return os.write(self._agents, self._typed) if self._typed else 0
        except BlockingIOError:
            return 0
        except OSError:  # there is no reader any more
            return len(self._typed)

    def _close(self) -> None:
        self._relay.unwatch(self._terminal)
        self._relay.unwatch(self._agents)
        os.close(self._agents)
