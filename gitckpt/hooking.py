"""The hooks of agent clients: record what was said before the next tool runs, and what a tool changed after it.

The client waits for each call, so a snapshot holds the files exactly as they were. Our own events record how far the
client's session file has been read, and a block that is found twice is recorded once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gitckpt.aftermath import AUTO, Aftermath
from gitckpt.agents.overheard import overhear, session_path
from gitckpt.agents.signals import Closed, Opened
from gitckpt.errors import GitckptError
from gitckpt.recorder import Recorder
from gitckpt.repo.claim import claim
from gitckpt.repo.journal import Journal
from gitckpt.repo.live import is_attended
from gitckpt.repo.trees import changes
from gitckpt.repo.worktree import WorkTree
from gitckpt.trajectory.events import BLOCK_KINDS
from gitckpt.trajectory.naming import given_session, session_name
from gitckpt.trajectory.session import MAIN, line_number
from gitckpt.trajectory.sources import Heard, place_heard

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gitckpt.agents.agent import Agent
    from gitckpt.agents.hook import Hooked
    from gitckpt.agents.overheard import Overheard
    from gitckpt.agents.signals import Boundary
    from gitckpt.agents.spoken import Told
    from gitckpt.recorder import Restore
    from gitckpt.repo.repository import Repository

    Say = Callable[[str], None]

#: How many events are searched for the last block.
_MOST_EVENTS: Final = 1000


class Hooking:
    """The effect of one hook call of a client.

    `auto` is tool, turn, off or "" (as configured, else tool). `say` is told about what could not be recorded; that
    blocks neither the client nor the rest.
    """

    def __init__(
        self, agent: Agent, call: Hooked, repository: Repository, say: Say, *, auto: str, environ: Mapping[str, str]
    ) -> None:
        self._agent, self._call, self._repository, self._say, self._auto = agent, call, repository, say, auto
        self._environ, self._journal = environ, Journal(repository)
        given = given_session(agent.name, environ)
        #: Whether `wrap` is running the client and has opened the session.
        self.wrapped = bool(given) and is_attended(repository.private_dir, given)
        self.name = given if self.wrapped else session_name(agent.name, call.session, repository.name)
        self._is_ours = not self.wrapped or claim(repository, given, "hooks")
        self._lines = self._journal.lines(self.name).get(self.name, {})

    def record(self) -> bool:
        """Record what the call brings. Return whether the agent owes a block for what its tools have changed.

        A block that cannot be recorded is reported and does not stop later ones. Raises GitckptError if nothing could
        be recorded.
        """
        if not self._is_ours:
            return False
        begin = place_heard(self._journal.heard(self._lines.values()), self._agent.name, self._call.session)
        heard = overhear(self._agent, self._call, session_path(self._agent, self._call, self._environ), begin)
        self._tell_unheard(heard)
        if not self._has_to_write(heard):
            return False
        tree = WorkTree(self._repository)
        with tree.lock:
            owes = _Writing(tree, self._agent, self._call, self.name, self._say, self._auto).write(
                heard, begin, ends=not self.wrapped
            )
        tree.close()
        return owes

    def _has_to_write(self, heard: Overheard) -> bool:
        match self._call.kind:
            case "before":
                return bool(heard.blocks) or not self._lines
            case "after" | "turn" as kind:
                looks = not self._auto or kind in AUTO[self._auto]
                return bool(heard.blocks) or (looks and (bool(self._lines) or kind == "after"))
            case "closed":
                return bool(heard.blocks) or (bool(self._lines) and not self.wrapped)
        return False

    def _tell_unheard(self, heard: Overheard) -> None:
        if heard.missed:
            id = self._call.boundary.call[:80] if self._call.boundary else ""
            self._say(f"{self._agent.name} had not written down {f'call {id}' if id else 'all that it said'} in time")
        for reason in dict.fromkeys(heard.lost):
            self._say(f"{self._agent.name}: could not be read: {reason}")


class _Writing:
    """Recording for one hook call, in a work tree whose lock is held."""

    def __init__(self, tree: WorkTree, agent: Agent, call: Hooked, name: str, say: Say, auto: str) -> None:
        self._tree, self._call, self._say, self._client = tree, call, say, agent.name
        self._auto = auto or tree.settings.auto or "tool"
        opened = next((signal for signal in call.signals if isinstance(signal, Opened)), Opened(call.session))
        record = {"client": agent.name, "session": call.session[:200], "model": opened.model[:200]}
        self._record = {key: value for key, value in record.items() if value}
        self._aftermath = Aftermath(tree)
        self._recorder = Recorder(
            tree, name=name, agent=self._record, restore=_restore(tree), around=self._aftermath.around
        )
        self._lines = tree.journal.lines(name).get(name, {})

    def write(self, heard: Overheard, begin: str, *, ends: bool) -> bool:
        """Record the blocks, then what the boundary asks for. Return whether the agent owes a block."""
        end = begin if self._record_blocks(heard, begin) else heard.place
        self._recorder.heard = self._heard(end)
        boundary = self._call.boundary
        if boundary is None:
            closed = [signal for signal in self._call.signals if isinstance(signal, Closed)]
            if closed and ends:
                self._record_end(closed[0])
            return False
        if not self._tip:
            self._recorder.open()
        elif boundary.kind in AUTO[self._auto]:
            self._record_changes(boundary)
        # if parts of what was said are missing, no block is demanded
        return boundary.kind == "turn" and not boundary.failed and not heard.missed and self._owes()

    @property
    def _tip(self) -> str:
        """The commit of the newest event on the line being recorded, "" before the first."""
        lines = self._recorder.session.lines if self._recorder.session else self._lines
        return lines.get(max(lines, key=line_number, default=MAIN), "")

    def _heard(self, place: str) -> str:
        return str(Heard(self._client, self._call.session, place)) if place else ""

    def _record_blocks(self, heard: Overheard, begin: str) -> bool:
        """Record the blocks. Return whether one of them failed.

        After a failure, the next call reads everything again: only the last block's event advances the place up to
        which the session file has been read, and it does so only if none has failed.
        """
        failed = False
        for number, told in enumerate(heard.blocks, 1):
            is_last = number == len(heard.blocks) and not failed
            self._recorder.heard = self._heard(heard.place if is_last else begin)
            failed |= not self._record_block(told)
        return failed

    def _record_block(self, told: Told) -> bool:
        try:
            if not (told.source and self._recorder.holds(told.source)):
                self._recorder.record(told.block, late=told.late, source=told.source)
        except GitckptError as error:
            self._say(f"{told.block.kind} {told.block.written} is NOT recorded: {error}")
            return False
        return True

    def _record_changes(self, boundary: Boundary) -> None:
        if self._aftermath.differs(self._tip):
            self._aftermath.record(self._recorder, boundary)

    def _record_end(self, closed: Closed) -> None:
        if self._tip and self._tree.tips({self._tip})[self._tip].kind != "end":
            reason = closed.reason[:200]
            self._recorder.note("end", f"end: {reason or 'of the session'}", {"agent": self._record | {"end": reason}})

    def _owes(self) -> bool:
        """Return whether tools have changed files since the last block, or since the start."""
        if self._call.continued is not False or self._call.subagent:
            return False
        events = self._tree.journal.events([self._tip], _MOST_EVENTS)
        last = next((n for n, event in enumerate(events) if event.kind in (*BLOCK_KINDS, "start")), -1)
        worked = any(event.kind == "auto" and event.document.get("boundary") for event in events[: max(last, 0)])
        return worked and bool(changes(self._tree.raw, events[last].commit, self._tip))


def _restore(tree: WorkTree) -> Restore | None:
    """Return the answer to a RETRY, as configured."""
    if tree.settings.on_retry != "restore":
        return None
    from gitckpt.restorer import restore_for_retry

    return restore_for_retry
