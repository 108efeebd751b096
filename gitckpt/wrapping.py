"""`wrap`: an agent's output passed through untouched, its blocks recorded as they come, its start and its end on
record.

Whatever goes wrong with recording, the agent runs and its exit status is kept; the person is told at the start and at
the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gitckpt.errors import GitckptError
from gitckpt.process import AgentExit, RunningAgent, run_agent
from gitckpt.protocol.reader import BlockReader
from gitckpt.recorder import Recorder, agent_record, went_on
from gitckpt.repo.repository import discover
from gitckpt.repo.worktree import WorkTree
from gitckpt.restorer import restore_for_retry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Literal

    from gitckpt.protocol.blocks import Block
    from gitckpt.repo.snapshot import Snapshot

    Say = Callable[[str], None]


class Wrapping:
    """One agent under `wrap`. `say` tells the person; `freeze` is auto, on or off; `on_retry` fork, restore or "" (as
    configured). `origin` goes into the record beside the command (`task`, `template`); `resumed` goes on in `session`
    and puts the new start on record there."""

    def __init__(
        self,
        command: Sequence[str],
        say: Say,
        *,
        freeze: str = "",
        on_retry: str = "",
        session: str | None = None,
        origin: Mapping[str, Any] | None = None,
        resumed: bool = False,
    ) -> None:
        self._command, self._say, self._freeze, self._on_retry = command, say, freeze, on_retry
        self._name, self._record_of_agent, self._resumed = session, {**agent_record(command), **(origin or {})}, resumed
        self._tree: WorkTree | None = None
        self._recorder: Recorder | None = None
        self._readers: dict[str, BlockReader] = {}
        self._agent: RunningAgent | None = None
        self._failures: list[str] = []
        self._ended = False
        self._late = 0

    def run(self, mode: Literal["auto", "pipe", "pty"] = "auto") -> int:
        """Run the agent; the exit status for the shell. Raises AgentNotStarted where the command cannot run."""
        agent_exit = run_agent(
            self._command, on_output=self._take, mode=mode, before_start=self._begin, on_exit=self._end
        )
        return agent_exit.status

    def _begin(self) -> None:
        """Open the session, so that the state before the agent is on record."""
        try:
            self._tree = WorkTree(discover(), self._say)
            restore = restore_for_retry if self._answer(self._tree) == "restore" else None
            self._freeze = self._freeze or self._tree.settings.freeze
            self._recorder = Recorder(
                self._tree, name=self._name, alone=True, agent=self._record_of_agent, restore=restore,
                around=self._around,
            )  # fmt: skip
            self._recorder.open()
            if self._resumed:
                words = " ".join(self._record_of_agent.get("template") or self._record_of_agent["command"])
                self._recorder.note("note", f"resumed: {words}", {"agent": self._record_of_agent})
        except GitckptError as error:
            self._recorder = None
            self._say(f"this run is NOT recorded: {error}")
            if error.hint:
                self._say(f"  → {error.hint}")
        except Exception as error:
            self._give_up(error)

    def _answer(self, tree: WorkTree) -> str:
        return self._on_retry or tree.settings.on_retry or "fork"

    def _around(self, take: Callable[[], Snapshot]) -> Snapshot:
        """Take a snapshot while the agent's processes stand still, so that neither tears it."""
        if self._agent is None or self._ended or self._freeze == "off":
            return take()
        with self._agent.freeze():
            return take()

    def _take(self, chunk: bytes, stream: str, agent: RunningAgent) -> None:
        if self._recorder is None:
            return
        self._agent = agent
        reader = self._readers.get(stream)
        if reader is None:
            reader = self._readers[stream] = BlockReader()
        try:
            self._record(reader.feed(chunk), went_on(chunk))
        except Exception as error:
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        """A fault of ours stops the recording and not the agent; it is told here and once more at the end."""
        self._recorder = None
        what = error.strerror if isinstance(error, OSError) and error.strerror else f"{type(error).__name__}: {error}"
        self._say(f"recording failed ({what}); from here on this run is NOT recorded")

    def _record(self, blocks: Sequence[Block], more: bool) -> None:
        """Record blocks that one read gave; `more` says that the agent had said something after the last of them."""
        assert self._recorder is not None
        for place, block in enumerate(blocks):
            late = more or place < len(blocks) - 1
            self._late += late
            try:
                self._recorder.record(block, late=late)
            except GitckptError as error:
                self._failures.append(f"{block.kind} {block.written}".strip())
                self._say(f"{block.kind} {block.written} is NOT recorded: {error}")

    def _end(self, agent_exit: AgentExit) -> None:
        self._ended = True
        try:
            self._record_end(agent_exit)
        except Exception as error:
            self._give_up(error)
        if agent_exit.leftover:
            listed = ", ".join(f"{left.command} (pid {left.pid})" for left in agent_exit.leftover[:5])
            self._say(f"the agent left {len(agent_exit.leftover)} processes running: {listed}")
        if self._failures:
            self._say(f"{len(self._failures)} events of this run are NOT recorded: {', '.join(self._failures[:10])}")
        if self._late:
            self._say(
                f"{self._late} blocks were read when the agent had gone on already (marked late): their snapshots may "
                "hold more than they tell; an agent that waits after each block, or a tool hook, makes them exact"
            )
        if self._recorder is None:
            self._say("this run, or the end of it, was NOT recorded")

    def _record_end(self, agent_exit: AgentExit) -> None:
        if self._recorder is None or self._tree is None:
            return
        for reader in self._readers.values():
            self._record(reader.close(), more=False)
        self._tell_unread()
        try:
            self._recorder.note("end", _end_subject(agent_exit), {"agent": _end_record(agent_exit)})
            self._tree.close()
        except GitckptError as error:
            self._failures.append("the end")
            self._say(f"the end of the run is NOT recorded: {error}")

    def _tell_unread(self) -> None:
        for reader in self._readers.values():
            for diagnostic in reader.take_diagnostics():
                if diagnostic.code == "P003":
                    self._say(f"line {diagnostic.line} of the output: {diagnostic.message}")


def _end_subject(agent_exit: AgentExit) -> str:
    return f"end: exit status {agent_exit.status}" + (f", signal {agent_exit.signal}" if agent_exit.signal else "")


def _end_record(agent_exit: AgentExit) -> dict[str, Any]:
    record: dict[str, Any] = {"exit": agent_exit.status}
    if agent_exit.signal:
        record["signal"] = agent_exit.signal
    if agent_exit.leftover:
        record["leftover"] = [{"pid": left.pid, "command": left.command} for left in agent_exit.leftover]
    return record
