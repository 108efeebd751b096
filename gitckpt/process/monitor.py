"""The process between us and the agent: it starts the agent, adopts its orphans, and takes over if we are killed.

    gitckpt ──┬── monitor ── agent ── tools …
              └── git, guardian

Why it exists. Everything below it belongs to the agent and nothing of ours does, however far a tool has moved from its
parent, its group or its session. As leader of the agent's terminal session it gives the agent a parent in the same
session, without which the system ignores Ctrl-Z. In our own process group it distinguishes a signal that was sent to
the whole group, agent included, from one that was sent to us alone. And if we vanish it hangs up the agent, as a
closing terminal would.

It uses two sockets: `control` carries its records to us and our commands to it; `witness` carries a signal's number to
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

#: Signals that are meant for the agent when they are sent to us.
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

#: Signals that end or stop other processes but must not affect the monitor. Blocked, they stay pending, where the
#: witness finds them.
NOT_FOR_THE_MONITOR = (*FORWARDED, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)

#: Records of the monitor: a letter and a number, which is the agent's process id, the errno of a failed start, the
#: signal that has stopped the agent, or its wait status.
RECORD = struct.Struct("=ci")
STARTED, FAILED, STOPPED, ENDED = b"P", b"X", b"S", b"E"

#: Commands to the monitor: continue the agent in the foreground; the user's terminal is in raw mode; it no longer is.
RESUME, RAW, COOKED = b"c", b"r", b"k"


class MonitorLink:
    """Our end of the connection: the process ids of the monitor and the agent, and the two sockets."""

    def __init__(self, pid: int, control: socket.socket, witness: socket.socket) -> None:
        self.pid, self.control, self._witness = pid, control, witness
        self.agent = 0

    def receive(self) -> tuple[bytes, int] | None:
        """Return the next record, or None if the monitor is gone."""
        record = _receive(self.control, RECORD.size)
        return RECORD.unpack(record) if len(record) == RECORD.size else None

    def command(self, command: bytes) -> None:
        """Send RESUME, RAW or COOKED."""
        try:
            self.control.send(command)
        except OSError:  # the monitor is gone, which `receive` will report
            pass

    def saw(self, signal_number: int) -> bool:
        """Return whether a signal that we got went to our whole process group. Useful only in the placement
        "shared"."""
        try:
            self._witness.send(bytes([signal_number]))
            return self._testimony() == b"\1"
        except OSError:
            return False

    def _testimony(self) -> bytes:
        try:
            return self._witness.recv(1)
        except TimeoutError:
            os.kill(self.pid, signal.SIGCONT)  # the group was stopped, and only we were continued
            return self._witness.recv(1)

    def dismiss(self) -> None:
        """Let the monitor exit, and with it the orphans that it adopted; an agent that is still alive is hung up."""
        send([self.pid], signal.SIGCONT)  # it may have been stopped
        self.control.close()
        self._witness.close()
        try:
            os.waitpid(self.pid, 0)
        except ChildProcessError:  # we were started with SIGCHLD ignored, so the system reaps our children
            pass


def start_monitor(launch: Launch) -> MonitorLink:
    """Start the monitor and through it the agent; return when the agent's program is running.

    FORWARDED must be blocked, so that a signal that arrives meanwhile stays pending. Raises AgentNotStarted.
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
        """Start the agent. Return the descriptor that becomes readable when a child changes state."""
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
        """Return the agent's terminal, kept open so that an agent that closes it can reopen it, and the user's, which
        may have to be restored."""
        users = [self.terminal.descriptor] if self.terminal else []
        return users + ([self.tty] if self.tty >= 0 else [])

    def _start_agent(self) -> None:
        outcome, report = os.pipe()
        self.agent = os.fork()
        if self.agent == 0:
            become_agent(self.launch, report)
        os.close(report)
        failure = os.read(outcome, 4)  # empty if the program runs: exec has closed `report`
        if failure:
            self._fail(int.from_bytes(failure, "little"))
        self._tell(STARTED, self.agent)

    def _tell(self, kind: bytes, number: int) -> None:
        try:
            self.control.send(RECORD.pack(kind, number))
        except OSError:  # gitckpt is gone, which the next look at `control` shows
            pass

    def watch(self, wake: int) -> None:
        """Report changes of the agent's state and carry out commands, until dismissed."""
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
            # The hang-up at our exit goes to the foreground group: make that ours, so that a helper that the agent has
            # left behind is spared.
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
        """Exit. If gitckpt was killed, its terminal is still in raw mode, and the agent is alive."""
        try:
            if self.raw and self.terminal:
                self.terminal.restore()
            if self.agent and not self.ended:
                # As a terminal does it: stopped processes are continued, so that they get the signal.
                send(signal_all(self._tree(), signal.SIGHUP), signal.SIGCONT)
        finally:
            os._exit(0)


def _receive(connection: socket.socket, size: int) -> bytes:
    """Return `size` bytes, or fewer if the other side is gone: a peer killed with unread data resets the connection."""
    try:
        return connection.recv(size, socket.MSG_WAITALL)
    except OSError:
        return b""
