"""Reads what a running agent says in its output, and stops the agent while that is recorded.

Output that is read from a pipe was written a moment ago. So the agent is stopped before anything is recorded, and its
pipes are drained first: that shows whether it had already gone on to its next tool.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from gitckpt.agents.spoken import Told
from gitckpt.errors import GitckptError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gitckpt.agents.stream import Item, Stream
    from gitckpt.agents.table import Choice
    from gitckpt.process import RunningAgent
    from gitckpt.process.freeze import Freeze
    from gitckpt.repo.lock import WorkTreeLock
    from gitckpt.repo.snapshot import Snapshot

    Record = Callable[[Sequence[Item]], None]


class Listening:
    """The streams of one agent, read as `choice` says. `stops` returns the lock to hold while the agent is stopped,
    None if it must not be stopped."""

    def __init__(self, choice: Choice, stops: Callable[[], WorkTreeLock | None]) -> None:
        self._choice, self._stops = choice, stops
        self._streams: dict[str, Stream | None] = {}
        self._agent: RunningAgent | None = None
        self._frozen: Freeze | None = None
        self._ahead: list[tuple[bytes, str]] | None = None

    @property
    def has_begun(self) -> bool:
        """Whether the agent has printed anything."""
        return self._agent is not None

    def hear(self, chunk: bytes, stream: str, agent: RunningAgent, record: Record) -> None:
        """Pass what a chunk brings to `record`. While the agent's pipes are being drained, only collect the chunk."""
        self._agent = agent
        if self._ahead is not None:
            self._ahead.append((chunk, stream))
            return
        reader = self._reader(stream)
        items = reader.feed(chunk) if reader else []
        if reader is None or not any(isinstance(item, Told) for item in items):
            record(items)
            return
        rest: list[tuple[bytes, str]] = []
        with self._standing_still(agent) as ahead:
            for data, other in ahead:
                if other == stream:
                    items = reader.read_on(items, data)
                else:
                    rest.append((data, other))
            record(items)
        for data, other in rest:
            self.hear(data, other, agent, record)

    @contextmanager
    def _standing_still(self, agent: RunningAgent) -> Iterator[list[tuple[bytes, str]]]:
        """Keep the agent stopped in this context, if it may be stopped and the work tree can be locked. The lock is
        taken first: a process of the agent that holds it would otherwise be stopped as well. Yields what was left in
        the agent's pipes."""
        with ExitStack() as held:
            if not _locked(self._stops(), held):
                yield []
                return
            held.callback(self.let_go)
            self._frozen = agent.freeze().__enter__()
            yield self._read_ahead(agent)

    def around(self, take: Callable[[], Snapshot]) -> Snapshot:
        """Take a snapshot while the agent is stopped, so that it cannot change files halfway through."""
        if self._agent is None or self._frozen or self._stops() is None:
            return take()
        with self._agent.freeze():
            return take()

    def let_go(self) -> None:
        """Let the agent continue if it is stopped."""
        frozen, self._frozen = self._frozen, None
        if frozen:
            frozen.__exit__()

    def close(self) -> Iterator[tuple[Stream, list[Item]]]:
        """Close each stream that was read, and yield it with the items that its end brings."""
        for reader in filter(None, self._streams.values()):
            yield reader, reader.close()

    def _reader(self, stream: str) -> Stream | None:
        if stream not in self._streams:
            self._streams[stream] = self._choice.stream(stream)
        return self._streams[stream]

    def _read_ahead(self, agent: RunningAgent) -> list[tuple[bytes, str]]:
        """Drain the agent's pipes and return the chunks."""
        ahead = self._ahead = []
        try:
            agent.pass_on()
        finally:
            self._ahead = None
        return ahead


def _locked(lock: WorkTreeLock | None, held: ExitStack) -> bool:
    try:
        return lock is not None and held.enter_context(lock) is lock
    except (GitckptError, OSError):  # the recorder gets the same error and reports it
        return False
