"""A running agent's output, read for what it says; and the agent standing still while that is recorded.

What is read of a pipe was said a moment ago. So the agent is stopped before anything is recorded, and what lies in its
pipes then is read first: whether it had gone on to its next tool shows there."""

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
    """The streams of one agent, read as `choice` says. `stops` gives the lock to hold while the agent is to stand
    still, None where it is not to be stopped."""

    def __init__(self, choice: Choice, stops: Callable[[], WorkTreeLock | None]) -> None:
        self._choice, self._stops = choice, stops
        self._streams: dict[str, Stream | None] = {}
        self._agent: RunningAgent | None = None
        self._frozen: Freeze | None = None
        self._ahead: list[tuple[bytes, str]] | None = None

    @property
    def has_begun(self) -> bool:
        """Whether the agent has said anything."""
        return self._agent is not None

    def hear(self, chunk: bytes, stream: str, agent: RunningAgent, record: Record) -> None:
        """Have `record` take what a chunk brings. Called from within by the agent's pipes, it only listens."""
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
        """The agent stands still meanwhile, if it may be stopped and the work tree can be locked. The lock comes first:
        else who holds it would stand still too. What lay in the agent's pipes is given."""
        with ExitStack() as held:
            if not _locked(self._stops(), held):
                yield []
                return
            held.callback(self.let_go)
            self._frozen = agent.freeze().__enter__()
            yield self._read_ahead(agent)

    def around(self, take: Callable[[], Snapshot]) -> Snapshot:
        """Take a snapshot while the agent stands still, so that neither tears it."""
        if self._agent is None or self._frozen or self._stops() is None:
            return take()
        with self._agent.freeze():
            return take()

    def let_go(self) -> None:
        """Let the agent go on, if it stands still."""
        frozen, self._frozen = self._frozen, None
        if frozen:
            frozen.__exit__()

    def close(self) -> Iterator[tuple[Stream, list[Item]]]:
        """Each stream that was read, with what its end brings."""
        for reader in filter(None, self._streams.values()):
            yield reader, reader.close()

    def _reader(self, stream: str) -> Stream | None:
        if stream not in self._streams:
            self._streams[stream] = self._choice.stream(stream)
        return self._streams[stream]

    def _read_ahead(self, agent: RunningAgent) -> list[tuple[bytes, str]]:
        """What lies in the agent's pipes."""
        ahead = self._ahead = []
        try:
            agent.pass_on()
        finally:
            self._ahead = None
        return ahead


def _locked(lock: WorkTreeLock | None, held: ExitStack) -> bool:
    try:
        return lock is not None and held.enter_context(lock) is lock
    except (GitckptError, OSError):  # whoever records will be told so
        return False
