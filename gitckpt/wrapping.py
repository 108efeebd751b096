"""`wrap`: passes an agent's output through untouched, and records its blocks as they come, its start and its end.

Whatever goes wrong with recording, the agent runs and its exit status is kept. The user is told at the start and at the
end.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from gitckpt.aftermath import AUTO
from gitckpt.agents.signals import Boundary, Lost, Opened
from gitckpt.agents.spoken import Told
from gitckpt.agents.table import channel_for
from gitckpt.agents.wording import boundary_record, boundary_words, lost_words, repeated_words
from gitckpt.errors import GitckptError
from gitckpt.injecting import HookedRun, inject
from gitckpt.listening import Listening
from gitckpt.process import AgentExit, RunningAgent, run_agent
from gitckpt.process.command import agent_environment
from gitckpt.recorder import Recorder, agent_record, at_once
from gitckpt.repo.naming import new_session_id
from gitckpt.repo.outer import OuterRun
from gitckpt.repo.repository import discover
from gitckpt.repo.started import note_started
from gitckpt.repo.worktree import WorkTree
from gitckpt.restorer import restore_for_retry
from gitckpt.trajectory.events import BLOCK_KINDS
from gitckpt.views.text import count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Literal

    from gitckpt.agents.stream import Item, Stream
    from gitckpt.agents.table import Choice
    from gitckpt.recorder import Take
    from gitckpt.repo.lock import WorkTreeLock
    from gitckpt.repo.snapshot import Snapshot
    from gitckpt.trajectory.events import Event

    Say = Callable[[str], None]


class Wrapping:
    """One agent under `wrap`. `say` reports to the user; `choice` is how to read the output, by default determined from
    the command. `freeze` is auto, on or off; `on_retry` is fork, restore or "" (as configured); `auto` is tool, turn,
    off or "" (as configured, else turn; off for an output of text). `origin` goes into the record beside the command
    (`task`, `template`). `resumed` continues `session` and records the new start there. `summarize` asks for a line at
    the end on how much is on record. `before` goes around the snapshot taken before the agent starts."""

    def __init__(
        self,
        command: Sequence[str],
        say: Say,
        *,
        choice: Choice | None = None,
        freeze: str = "",
        on_retry: str = "",
        auto: str = "",
        session: str | None = None,
        origin: Mapping[str, Any] | None = None,
        resumed: bool = False,
        summarize: bool = False,
        before: Take = at_once,
        inject: str = "",
    ) -> None:
        self._command, self._say, self._freeze, self._on_retry = command, say, freeze, on_retry
        self._choice = choice or channel_for(command, terminal=os.isatty(0) and os.isatty(1))
        self._auto = auto
        self._name, self._resumed = session, resumed
        self._summarize, self._before = summarize, before
        self._record_of_agent = agent_record(command) | self._client_record() | dict(origin or {})
        self._tree: WorkTree | None = None
        self._outer: OuterRun | None = None
        self._recorder: Recorder | None = None
        self._listening = Listening(self._choice, self._stops_agent)
        self._client: Opened | None = None
        self._failures: list[str] = []
        self._lost: Counter[str] = Counter()
        self._ended = False
        self._late = self._repeated = self._begun = 0
        #: The command that our injected hooks call; "" to inject none.
        self._program = inject if choice is None else ""
        self._hooks: HookedRun | None = None

    def run(self, mode: Literal["auto", "pipe", "pty"] = "auto") -> int:
        """Run the agent and return the exit status for the shell. Raises AgentNotStarted if the command cannot run."""
        self._inject()
        hooks = self._hooks
        try:
            agent_exit = run_agent(
                hooks.injected.command if hooks else self._command, on_output=self._take, mode=mode,
                env=hooks.injected.environment if hooks else None, before_start=self._begin, on_exit=self._end,
            )  # fmt: skip
        finally:
            if hooks:
                hooks.close()
        return agent_exit.status

    def _inject(self) -> None:
        """Give the client our hooks and tools for this run, if they add to what its output tells."""
        agent = self._choice.agent
        if not self._program or agent is None:
            return
        self._name = self._name or new_session_id()
        more = ("--auto", self._auto) if self._auto else ()
        try:
            repository = discover()
            injected = inject(
                self._choice, self._command, agent_environment(os.environ), repository=repository, session=self._name,
                program=self._program, more=more,
            )  # fmt: skip
            self._hooks = HookedRun(injected, repository, self._name, agent.name)
        except (GitckptError, OSError):
            return  # `_begin` runs into the same error and reports it

    def _begin(self) -> None:
        """Open the session, so that the state before the agent runs is on record."""
        try:
            self._tree = WorkTree(discover(), self._say)
            self._outer = OuterRun(self._tree)
            restore = self._restore if self._answer(self._tree) == "restore" else None
            self._freeze = self._freeze or self._tree.settings.freeze
            self._auto = self._auto or self._configured_auto(self._tree)
            self._recorder = Recorder(
                self._tree, name=self._name, alone=True, agent=self._record_of_agent, restore=restore,
                around=self._around,
            )  # fmt: skip
            self._record_start(self._recorder)
            if self._choice.mode.events:
                self._recorder.recall()
            self._tell_channel()
        except GitckptError as error:
            self._recorder = None
            self._say(f"this run is NOT recorded: {error}")
            if error.hint:
                self._say(f"  → {error.hint}")
        except Exception as error:
            self._give_up(error)

    def _record_start(self, recorder: Recorder) -> None:
        """Record the agent, and note that it was started here: only then does `resume` run it again without asking."""
        session = recorder.open()
        self._begun = session.total
        if self._resumed:
            words = " ".join(self._record_of_agent.get("template") or self._record_of_agent["command"])
            event = recorder.note("note", f"resumed: {words}", {"agent": self._record_of_agent})
            note_started(recorder.tree.repository, event.commit)
        elif recorder.account.opened:
            note_started(recorder.tree.repository, session.events[0].commit)

    def _client_record(self) -> dict[str, Any]:
        agent = self._choice.agent
        return {"client": agent.name, "channel": self._choice.channel} if agent else {}

    def _tell_channel(self) -> None:
        """Say how the output of a known client is read, and which of its words do not come through."""
        agent, mode = self._choice.agent, self._choice.mode
        if self._auto != "off" and not mode.events:
            self._say(f"this output shows no tools and turns: --auto {self._auto} records nothing")
        if agent is None:
            return
        self._say(f"reading {agent.name}'s {'JSON events' if mode.events else 'text'} (--auto {self._auto})")
        for line in self._hooks.told() if self._hooks else ():
            self._say(line)
        if not (self._hooks and self._hooks.injected.given):
            self._tell_loss()

    def _tell_loss(self) -> None:
        agent, mode = self._choice.agent, self._choice.mode
        if agent and mode.loss:
            self._say(f"{agent.name}: {mode.loss}")
        if mode.remedy:
            self._say(f"  → {mode.remedy}")

    def _configured_auto(self, tree: WorkTree) -> str:
        return (tree.settings.auto or "turn") if self._choice.mode.events else "off"

    def _answer(self, tree: WorkTree) -> str:
        return self._on_retry or tree.settings.on_retry or "fork"

    def _around(self, take: Callable[[], Snapshot]) -> Snapshot:
        """Take a snapshot while the agent is stopped, so that it cannot change files halfway through."""
        return self._listening.around(take) if self._listening.has_begun else self._before(take)

    def _stops_agent(self) -> WorkTreeLock | None:
        """Return the lock to hold while the agent is stopped for a snapshot, None if it is not stopped."""
        if self._tree is None or self._ended or self._freeze == "off" or (self._hooks and self._hooks.came()):
            return None
        return self._tree.lock

    def _restore(self, recorder: Recorder, event: Event, at: Event) -> Event:
        """Restore the files with the agent running: one of its own git processes may hold a lock that we wait for."""
        self._listening.let_go()
        return restore_for_retry(recorder, event, at)

    def _take(self, chunk: bytes, stream: str, agent: RunningAgent) -> None:
        if self._recorder is None:
            return
        try:
            self._listening.hear(chunk, stream, agent, self._record)
        except Exception as error:
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        """Stop recording after an internal fault, but not the agent. The user is told now, and again at the end."""
        self._recorder = None
        what = error.strerror if isinstance(error, OSError) and error.strerror else f"{type(error).__name__}: {error}"
        self._say(f"recording failed ({what}); from here on this run is NOT recorded")

    def _record(self, items: Sequence[Item]) -> None:
        for item in items:
            if isinstance(item, Told):
                self._record_block(item)
            elif isinstance(item, Boundary):
                self._record_boundary(item)
            elif isinstance(item, Lost):
                self._lost[item.reason] += 1
            elif isinstance(item, Opened):
                self._client = item

    def _record_block(self, told: Told) -> None:
        assert self._recorder is not None
        block = told.block
        if self._hooks and self._hooks.hold(told):
            return
        try:
            if told.source and self._recorder.holds(told.source):
                self._repeated += 1
                return
            self._late += told.late
            self._recorder.record(block, late=told.late, source=told.source)
        except (GitckptError, OSError) as error:
            self._failures.append(f"{block.kind} {block.written}".strip())
            self._say(f"{block.kind} {block.written} is NOT recorded: {error}")

    def _record_boundary(self, boundary: Boundary) -> None:
        """Record an `auto` checkpoint after a tool or a turn, if it has changed anything."""
        assert self._recorder is not None
        if boundary.kind not in AUTO[self._auto] or (self._hooks and self._hooks.record()):
            return
        try:
            self._recorder.auto(f"auto: {boundary_words(boundary)}", {"boundary": boundary_record(boundary)})
        except (GitckptError, OSError) as error:
            self._failures.append(boundary_words(boundary))
            self._say(f"the state {boundary_words(boundary)} is NOT recorded: {error}")

    def _end(self, agent_exit: AgentExit) -> None:
        self._ended = True
        try:
            self._record_end(agent_exit)
        except Exception as error:
            self._give_up(error)
        if agent_exit.leftover:
            listed = ", ".join(f"{left.command} (pid {left.pid})" for left in agent_exit.leftover[:5])
            self._say(f"the agent left running: {count(len(agent_exit.leftover), 'process', 'processes')}: {listed}")
        self._tell_losses()
        if self._recorder is None:
            self._say("this run, or the end of it, was NOT recorded")
        else:
            self._tell_account(self._recorder, agent_exit.status)

    def _tell_losses(self) -> None:
        """Report what is not on record, or not as exactly as it could be."""
        if self._failures:
            failed = count(len(self._failures), "event")
            self._say(f"NOT recorded of this run: {failed}: {', '.join(self._failures[:10])}")
        for line in lost_words(self._lost):
            self._say(f"{line}; what was said in there is NOT recorded")
        if self._repeated:
            self._say(repeated_words(self._repeated))
        if self._late:
            self._say(
                f"{count(self._late, 'block')} read when the agent had gone on already (marked late): such a snapshot "
                "may hold more than its block tells; an agent that waits after each block, or a tool hook, makes it "
                "exact"
            )

    def _tell_account(self, recorder: Recorder, exit_status: int) -> None:
        for line in (*recorder.account.mended(), *recorder.account.uncovered()):
            self._say(line)
        if self._summarize:
            self._say(recorder.account.total(exit_status))

    def _record_end(self, agent_exit: AgentExit) -> None:
        if self._recorder is None or self._tree is None:
            return
        for reader, items in self._listening.close():
            self._record(items)
            self._tell_unread(reader)
        if self._hooks:
            self._end_hooks(self._hooks, self._tree)
        try:
            self._recorder.note("end", _end_subject(agent_exit), {"agent": _end_record(agent_exit, self._client)})
            if self._outer and self._recorder.session:
                self._outer.goes_on(self._recorder.session.id)
            self._tree.close()
        except (GitckptError, OSError) as error:
            self._failures.append("the end")
            self._say(f"the end of the run is NOT recorded: {error}")

    def _end_hooks(self, hooks: HookedRun, tree: WorkTree) -> None:
        """Record, marked late, the blocks that were read from events and that no hook has recorded."""
        if hooks.came():
            events = tree.journal.session(hooks.session).events
            self._count_hooked(events)
            for told in hooks.left([event.source for event in events]):
                self._record_block(told._replace(late=True))
        elif hooks.injected.given:
            self._say("the hooks that the agent was given were not called: what is on record was read from its output")
            self._tell_loss()

    def _count_hooked(self, events: Sequence[Event]) -> None:
        """Count the blocks that hooks have recorded in this run as our own."""
        assert self._recorder is not None
        for event in events:
            if event.heard and event.kind in BLOCK_KINDS and event.seq > self._begun:
                self._recorder.account.add(event)

    def _tell_unread(self, reader: Stream) -> None:
        for diagnostic in reader.take_diagnostics():
            if diagnostic.code == "P003":
                self._say(f"line {diagnostic.line} of {reader.lines}: {diagnostic.message}")


def _end_subject(agent_exit: AgentExit) -> str:
    return f"end: exit status {agent_exit.status}" + (f", signal {agent_exit.signal}" if agent_exit.signal else "")


def _end_record(agent_exit: AgentExit, client: Opened | None) -> dict[str, Any]:
    record: dict[str, Any] = {"exit": agent_exit.status}
    if agent_exit.signal:
        record["signal"] = agent_exit.signal
    if agent_exit.leftover:
        record["leftover"] = [{"pid": left.pid, "command": left.command} for left in agent_exit.leftover]
    if client:
        record |= {"session": client.session[:200]} | ({"model": client.model[:200]} if client.model else {})
    return record
