"""The process between us and the agent: it starts the agent, adopts its orphans, and sees to it if we are killed.

    gitckpt ──┬── monitor ── agent ── tools …
              └── git, guardian

Why it is there. Everything below it is the agent's and nothing of ours is, however far a tool has gone from its parent,
its group or its session. As leader of the agent's terminal session it gives the agent a parent in the same session,
without which the system ignores Ctrl-Z. In our own process group it tells a signal that was sent to the whole group,
agent included, from one that was sent to us alone. And when we are gone without a word it hangs up the agent, as a
terminal that goes away would.

It answers on two sockets: `control` carries records from it and commands to it, `witness` carries a signal's number to
it and an answer back.
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import signal
import socket
import struct
import termios

from gitckpt.process.children import adopt_orphans, wake_on_child
from gitckpt.process.command import not_started
from gitckpt.process.descriptors import close_all, close_all_but
from gitckpt.process.launch import become_agent
from gitckpt.process.standstill import signal_all
from gitckpt.process.tree import AgentTree, send

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from gitckpt.process.launch import Launch

#: Signals that mean the agent when they are sent to us.
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

#: What ends or stops other processes and is not for the monitor; blocked, it stays pending, where the witness finds it.
NOT_FOR_THE_MONITOR = (*FORWARDED, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)

#: Records of the monitor: a letter and a number. The agent's process id; errno where it could not be started; the
#: signal that has stopped it; its wait status.
RECORD = struct.Struct("=ci")
STARTED, FAILED, STOPPED, ENDED = b"P", b"X", b"S", b"E"

#: Commands to the monitor: continue the agent in the foreground; the user's terminal is in raw mode; it is not.
RESUME, RAW, COOKED = b"c", b"r", b"k"


class MonitorLink:
    """Our end: the monitor's process id, the agent's, and what passes between."""

    def __init__(self, pid: int, control: socket.socket, witness: socket.socket) -> None:
        self.pid, self.control, self._witness = pid, control, witness
        self.agent = 0

    def receive(self) -> tuple[bytes, int] | None:
        """The next record, or None when the monitor is gone."""
        record = _receive(self.control, RECORD.size)
        return RECORD.unpack(record) if len(record) == RECORD.size else None

    def command(self, command: bytes) -> None:
        """Send RESUME, RAW or COOKED."""
        try:
            self.control.send(command)
        except OSError:  # it is gone, which `receive` will tell
            pass

    def saw(self, signal_number: int) -> bool:
        """Whether a signal that we got was sent to our whole process group. Of use in the placement "shared" only."""
        try:
            self._witness.send(bytes([signal_number]))
            return self._testimony() == b"\1"
        except OSError:
            return False

    def _testimony(self) -> bytes:
        try:
            return self._witness.recv(1)
        except TimeoutError:
            os.kill(self.pid, signal.SIGCONT)  # somebody has stopped the group, and continued us alone
            return self._witness.recv(1)

    def dismiss(self) -> None:
        """Let the monitor go, and with it what it had adopted; an agent that lives is hung up."""
        send([self.pid], signal.SIGCONT)  # somebody may have stopped it
        self.control.close()
        self._witness.close()
        try:
            os.waitpid(self.pid, 0)
        except ChildProcessError:  # whoever started us has children reaped by the system
            pass


def start_monitor(launch: Launch) -> MonitorLink:
    """Start the monitor and through it the agent; returns when the agent's program runs.

    FORWARDED must be blocked, so that a signal which comes meanwhile waits. Raises AgentNotStarted.
    """
    control, theirs = socket.socketpair()
    witness, their_witness = socket.socketpair()
    witness.settimeout(1.0)
    try:
        pid = os.fork()
    except OSError as error:
        raise not_started(launch.argv[0], error.errno or errno.EAGAIN) from error
    if pid == 0:
        _run_monitor(launch, theirs, their_witness)
    theirs.close()
    their_witness.close()
    link = MonitorLink(pid, control, witness)
    kind, number = link.receive() or (FAILED, errno.ECHILD)
    if kind == FAILED:
        link.dismiss()
        raise not_started(launch.argv[0], number)
    link.agent = number
    return link


def _run_monitor(launch: Launch, control: socket.socket, witness: socket.socket) -> NoReturn:
    monitor = _Monitor(launch, control, witness)
    try:
        monitor.watch(monitor.start())
    finally:
        monitor.leave()


class _Monitor:
    def __init__(self, launch: Launch, control: socket.socket, witness: socket.socket) -> None:
        self.launch, self.control, self.witness = launch, control, witness
        self.placement, self.tty, self.terminal = launch.streams.placement, launch.streams.tty, launch.streams.terminal
        self.agent, self.ended, self.raw, self.dismissed = 0, False, False, False

    def start(self) -> int:
        """Start the agent. Gives the descriptor that tells of children."""
        signal.pthread_sigmask(signal.SIG_BLOCK, NOT_FOR_THE_MONITOR)
        adopt_orphans()
        wake = wake_on_child()
        try:
            self._take_place()
            self._start_agent()
        except OSError as error:
            self._fail(error.errno or errno.EIO)
        close_all_but({self.control.fileno(), self.witness.fileno(), *wake, *self._terminals()})
        return wake[0]

    def _fail(self, reason: int) -> NoReturn:
        self._tell(FAILED, reason)
        os._exit(0)

    def _take_place(self) -> None:
        if self.placement != "shared":
            os.setsid()
        if self.tty >= 0:
            fcntl.ioctl(self.tty, termios.TIOCSCTTY, 0)

    def _terminals(self) -> list[int]:
        """The agent's terminal, kept open so that an agent that closes it can open it again; the user's, to put it
        back.
        """
        users = [self.terminal.descriptor] if self.terminal else []
        return users + ([self.tty] if self.tty >= 0 else [])

    def _start_agent(self) -> None:
        outcome, report = os.pipe()
        self.agent = os.fork()
        if self.agent == 0:
            become_agent(self.launch, report)
        os.close(report)
        failure = os.read(outcome, 4)  # empty when the program runs: it has closed `report`
        if failure:
            self._fail(int.from_bytes(failure, "little"))
        self._tell(STARTED, self.agent)

    def _tell(self, kind: bytes, number: int) -> None:
        try:
            self.control.send(RECORD.pack(kind, number))
        except OSError:  # we are gone, which the next look at `control` tells
            pass

    def watch(self, wake: int) -> None:
        """Tell what becomes of the agent and do as we are told, until we are let go."""
        poll = select.poll()
        for descriptor in (wake, self.control.fileno(), self.witness.fileno()):
            poll.register(descriptor, select.POLLIN)
        while not self.dismissed:
            ready = {descriptor for descriptor, _ in poll.poll()}
            if wake in ready:
                os.read(wake, 512)
                self._reap()
            if self.witness.fileno() in ready:
                self._bear_witness()
            if self.control.fileno() in ready:
                self._obey()

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.agent:
                self._tell_change(status)

    def _tell_change(self, status: int) -> None:
        if os.WIFSTOPPED(status):
            self._tell(STOPPED, os.WSTOPSIG(status))
            return
        self.ended = True
        if self.tty >= 0:
            # The hang-up at our exit goes to the foreground: to us then, and not to a helper that the agent has left
            # behind.
            self._bring_to_foreground(os.getpgrp())
            close_all([self.tty])
        self._tell(ENDED, status)

    def _bring_to_foreground(self, group: int) -> None:
        try:
            os.tcsetpgrp(self.tty, group)
        except OSError:
            pass

    def _bear_witness(self) -> None:
        number = int.from_bytes(_receive(self.witness, 1), "little")
        seen = number in signal.sigpending()
        if seen:
            signal.sigwait([number])
        try:
            self.witness.send(bytes([seen]))
        except OSError:
            pass

    def _obey(self) -> None:
        command = _receive(self.control, 1)
        if not command:
            self.dismissed = True
        elif command == RESUME:
            if self.tty >= 0:
                self._bring_to_foreground(self.agent)
            send([row.pid for row in self._tree().held()], signal.SIGCONT)
        else:
            self.raw = command == RAW

    def _tree(self) -> AgentTree:
        return AgentTree(os.getpid(), self.agent, own_group=self.placement != "shared")

    def leave(self) -> NoReturn:
        """End. If gitckpt was killed, its terminal is in raw mode still, and the agent lives."""
        try:
            if self.raw and self.terminal:
                self.terminal.restore()
            if self.agent and not self.ended:
                # As a terminal does it: whoever is stopped is continued, to hear it.
                send(signal_all(self._tree(), signal.SIGHUP), signal.SIGCONT)
        finally:
            os._exit(0)


def _receive(connection: socket.socket, size: int) -> bytes:
    """So many bytes, or fewer when the other side is gone; killed with mail unread, it resets the connection."""
    try:
        return connection.recv(size, socket.MSG_WAITALL)
    except OSError:
        return b""
