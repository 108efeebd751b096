"""Running an agent: one call from its command line to its exit status."""

from __future__ import annotations

import errno
import os
import signal
from typing import NamedTuple

from gitckpt.errors import UsageError
from gitckpt.process.attendance import Attendance
from gitckpt.process.command import agent_environment, find_program, not_started
from gitckpt.process.descriptors import close_all, plug_standard
from gitckpt.process.launch import Launch
from gitckpt.process.monitor import FORWARDED, start_monitor
from gitckpt.process.streams import Streams
from gitckpt.process.tree import AgentTree, command_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gitckpt.process.attendance import OnOutput
    from gitckpt.process.monitor import MonitorLink
    from gitckpt.process.streams import Mode


class Leftover(NamedTuple):
    """A process that the agent started and left running: its id, and its command line for the user."""

    pid: int
    command: str


class AgentExit(NamedTuple):
    """How the agent ended. `status` is for the shell: its exit code, or 128 + `signal` if a signal ended it."""

    status: int
    signal: int | None
    leftover: tuple[Leftover, ...]


def run_agent(
    argv: Sequence[str],
    *,
    on_output: OnOutput,
    mode: Mode = "auto",
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    before_start: Callable[[], None] | None = None,
    on_exit: Callable[[AgentExit], None] | None = None,
    patience: float = 10.0,
) -> AgentExit:
    """Run an agent on our standard input, output and error until it ends.

    `on_output(chunk, "stdout" | "stderr", agent)` receives every byte, after it was written to our own stream and
    before any later one is read; `agent.freeze()` stops the agent's processes for a moment. The call is never
    interrupted: a signal that arrives meanwhile is passed on when it returns. If it raises, the agent is hung up and
    the error propagates to the caller.

    `mode`: "auto" gives the agent a terminal of its own if standard input and output are terminals, otherwise pipes;
    "pipe" and "pty" force one or the other. On a terminal both of its streams are one, called "stdout", unless our
    standard error is something else.

    `before_start` is called when the command was found and nothing runs yet; `on_exit` when the agent has ended and the
    terminal is restored, while signals are still held back. INT, TERM, HUP and QUIT go to the agent and all its
    processes; an agent that still runs `patience` seconds after a TERM is killed.

    Call it from the main thread only. Raises UsageError if no command is given or the directory `cwd` does not exist,
    AgentNotStarted (exit status 127 or 126) if the command cannot run.
    """
    environment = agent_environment(os.environ) if env is None else dict(env)
    directory = _existing_directory(cwd)
    program = find_program(argv, environment, directory)
    if before_start is not None:
        before_start()
    plugged = plug_standard()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
    try:
        streams = _open_streams(argv[0], plugged, mode)
        launch = Launch(program, argv, environment, directory, streams)
        return _attend(Attendance(_start(launch), streams, on_output, patience), on_exit)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        close_all(plugged)


def _existing_directory(path: str | None) -> str:
    directory = path or "."
    if not os.path.isdir(directory):
        raise UsageError(f"{directory}: there is no such directory", "name an existing one to run the agent in")
    return directory


def _open_streams(name: str, plugged: list[int], mode: Mode) -> Streams:
    try:
        return Streams(plugged, mode)
    except OSError as error:  # out of descriptors or terminals
        raise not_started(name, error.errno or errno.EMFILE) from error


def _start(launch: Launch) -> MonitorLink:
    try:
        return start_monitor(launch)
    except BaseException:
        launch.streams.close()
        raise
    finally:
        launch.streams.close_agents_ends()


def _attend(attendance: Attendance, on_exit: Callable[[AgentExit], None] | None) -> AgentExit:
    try:
        try:
            attendance.begin()
            agent_exit = _agent_exit(attendance.until_end(), _leftover(attendance.tree))
        finally:
            attendance.close()
        if on_exit is not None:
            on_exit(agent_exit)
        return agent_exit
    finally:
        attendance.signals.restore()


def _agent_exit(status: int, leftover: tuple[Leftover, ...]) -> AgentExit:
    return AgentExit(status, None, leftover) if status >= 0 else AgentExit(128 - status, -status, leftover)


def _leftover(tree: AgentTree) -> tuple[Leftover, ...]:
    return tuple(Leftover(row.pid, command_line(row.pid)) for row in tree.members() if row.pid != tree.agent)
