"""Attends a running agent: its output, signals to us, its stops, its end, and the processes that it leaves."""

from __future__ import annotations

import math
import os
import signal
import time

from gitckpt.process.freeze import Freeze
from gitckpt.process.monitor import COOKED, ENDED, FORWARDED, RAW, RESUME, STOPPED
from gitckpt.process.relay import Keyboard, Relay
from gitckpt.process.signals import Signals
from gitckpt.process.standstill import signal_all
from gitckpt.process.terminal import copy_size
from gitckpt.process.tree import AgentTree, find_process, send

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitckpt.process.monitor import MonitorLink
    from gitckpt.process.relay import Stream
    from gitckpt.process.streams import Streams

    OnOutput = Callable[[bytes, Stream, "RunningAgent"], None]

#: How many seconds after the agent's end a child that still holds its pipe may write. A child that keeps it open longer
#: does not hold us up.
LINGER = 0.3

#: How many seconds the agent's last children get to end with it before they count as left over.
SETTLE = 0.1

#: How many seconds signalled processes get to end, before a TERM and again after it.
SEEING_OFF = 0.5

#: How many seconds after a signal the agent's end counts as its answer.
ANSWER = 10.0

#: Seconds between two looks at the process table.
LOOK = 0.03


class RunningAgent:
    """The agent, as passed to `on_output`."""

    def __init__(self, tree: AgentTree, pass_on: Callable[[], None]) -> None:
        self._tree, self._pass_on = tree, pass_on

    @property
    def pid(self) -> int:
        """The process id of the agent's own process."""
        return self._tree.agent

    def freeze(self) -> Freeze:
        """Return a context in which the agent's whole process tree is stopped; see Freeze for what it promises."""
        return Freeze(self._tree)

    def pass_on(self) -> None:
        """Call `on_output`, even from within its own call, for everything that is in the agent's pipes, in order."""
        self._pass_on()


class Attendance:
    """One agent from its start to its end. It gets `patience` seconds to react to a TERM before it is killed."""

    def __init__(self, link: MonitorLink, streams: Streams, on_output: OnOutput, patience: float) -> None:
        self.link, self.streams, self.placement, self.patience = link, streams, streams.placement, patience
        self.tree = AgentTree(link.pid, link.agent, own_group=streams.placement != "shared")
        self.signals = Signals(self._act)
        self.status: int | None = None
        self._on_output, self._is_handing_over = on_output, False
        self._signalled_at, self._ended_at = -math.inf, 0.0
        self._signalled: set[int] = set()
        self.relay = Relay(streams.sources, self._hand_over, self._abandons)
        self._agent = RunningAgent(self.tree, self.relay.drain)

    def begin(self) -> None:
        """Take over our signals and the terminal."""
        terminal = self.streams.terminal
        job_control = () if self.placement == "own" else (signal.SIGTSTP,)
        self.signals.install(
            (*FORWARDED, signal.SIGALRM, *job_control, *((signal.SIGWINCH, signal.SIGCONT) if terminal else ()))
        )
        signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
        self.relay.watch(self.link.control.fileno(), self._heed_monitor)
        if terminal:
            Keyboard(self.relay, terminal.descriptor, self.streams.sources[0])
            self._take_terminal()

    def until_end(self) -> int:
        """Serve the agent until it has ended and its last output has been read. Return its exit code, or the negated
        number of the signal that ended it."""
        while self.status is None:
            self.relay.turn()
        if self._was_answer:
            self._see_off()
        self._serve_until(lambda: not self.relay.sources, LINGER)
        self._serve_until(lambda: not self.tree.members(), SETTLE)
        self.relay.drain()
        return self.status

    def close(self) -> None:
        """Give the terminal back and release everything, whatever has happened. An agent that is still alive is hung
        up."""
        self.signals.hold()
        signal.setitimer(signal.ITIMER_REAL, 0)
        if self.streams.terminal:
            self._give_terminal_back()
        self.link.dismiss()
        self.streams.close()

    def _hand_over(self, chunk: bytes, stream: Stream) -> None:
        if self._is_handing_over:
            self._on_output(chunk, stream, self._agent)
            return
        self.signals.hold()
        self._is_handing_over = True
        try:
            self._on_output(chunk, stream, self._agent)
        finally:
            self._is_handing_over = False
            self.signals.release()

    @property
    def _was_answer(self) -> bool:
        """Whether the agent ended in answer to a signal that we passed on."""
        return self.status is not None and self._ended_at - self._signalled_at < ANSWER

    def _abandons(self) -> bool:
        """Return whether to give up a reader that takes nothing. We block on it, as any writer does, but not forever
        once a signal has ended the agent."""
        return self._was_answer and time.monotonic() - self._ended_at > SEEING_OFF

    def _heed_monitor(self) -> None:
        kind, number = self.link.receive() or self._lost_monitor()
        # If it is no longer stopped, it was a freeze, or the job was continued meanwhile.
        if kind == STOPPED and self.placement != "own" and self._is_stopped():
            self._suspend()
        elif kind == ENDED:
            self.status, self._ended_at = os.waitstatus_to_exitcode(number), time.monotonic()
            self.relay.unwatch(self.link.control.fileno())

    def _lost_monitor(self) -> tuple[bytes, int]:
        """Handle a monitor that was killed: nothing can report on the agent any more, so hang the agent up too."""
        send([self.tree.agent], signal.SIGHUP)
        return ENDED, signal.SIGKILL

    def _is_stopped(self) -> bool:
        row = find_process(self.tree.agent)
        return row is not None and row.state == "T"

    def _suspend(self) -> None:
        """Stop as the agent has stopped, and continue it when we are continued; at once, if nothing could continue
        us."""
        on_terminal = self.streams.terminal is not None
        if on_terminal:
            self._give_terminal_back()
        handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        # The shell that waits for our group as one job must see all of it stopped; in the shared group the terminal has
        # done that already.
        os.kill(0 if self.placement == "terminal" else os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, handler)
        if on_terminal:
            self._take_terminal()
        self.link.command(RESUME)

    def _take_terminal(self) -> None:
        if self.streams.terminal:
            self.link.command(RAW)
            self.streams.terminal.take()
            self._fit()

    def _give_terminal_back(self) -> None:
        if self.streams.terminal:
            self.streams.terminal.give_back()
            self.link.command(COOKED)

    def _fit(self) -> None:
        if self.streams.terminal and self.streams.sources[0].descriptor >= 0:
            copy_size(self.streams.terminal.descriptor, self.streams.screen)

    def _act(self, number: int, late: bool) -> None:
        if number == signal.SIGWINCH:
            self._fit()
        elif number == signal.SIGCONT:
            self._take_terminal()
        elif self.status is None and number == signal.SIGALRM:
            signal_all(self.tree, signal.SIGKILL)
        elif self.status is None:
            self._forward(number, late)

    def _forward(self, number: int, late: bool) -> None:
        heard = self.placement == "shared" and self.link.saw(number)
        # A SIGTSTP that came while the agent was frozen was discarded when it was continued.
        if heard and not (late and number == signal.SIGTSTP):
            return
        if number == signal.SIGTSTP:
            send([row.pid for row in self.tree.held()], number)
            return
        self._signalled |= signal_all(self.tree, number)
        self._signalled_at = time.monotonic()
        if number == signal.SIGTERM and signal.getitimer(signal.ITIMER_REAL)[0] == 0:
            signal.setitimer(signal.ITIMER_REAL, self.patience)

    def _see_off(self) -> None:
        """End signalled processes that would go on as orphans: background children of a shell ignore INT, but not
        TERM."""
        self._serve_until(lambda: not self._stragglers(), SEEING_OFF)
        send(self._stragglers(), signal.SIGTERM)
        self._serve_until(lambda: not self._stragglers(), SEEING_OFF)

    def _stragglers(self) -> list[int]:
        return [row.pid for row in self.tree.members() if row.pid in self._signalled]

    def _serve_until(self, done: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not done() and (left := deadline - time.monotonic()) > 0:
            self.relay.turn(min(left, LOOK))
