"""Runs commands in parallel, each with its output in a file; all of them are ended when we end."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

from gitckpt.process.offspring import none_outliving

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: Linux: sets which signal a process gets when its parent is gone (prctl(2)).
PR_SET_PDEATHSIG = 1

#: How many seconds a command gets to end once it was told to.
PATIENCE = 20.0


class Command(NamedTuple):
    """What to run, in which directory, and the file that its output is appended to."""

    argv: Sequence[str]
    cwd: bytes
    output: bytes


class Ended(NamedTuple):
    """How a command ended: its exit status as a shell gives it, 128 + the signal if one ended it; and after how
    long."""

    status: int
    seconds: float


def run_together(commands: Sequence[Command], env: Mapping[str, str]) -> list[Ended]:
    """Run all commands at once, with empty standard input, until the last one has ended.

    If this is interrupted, all of them are terminated and waited for, and killed if they do not end, together with
    everything that they started. They are also terminated if this process is killed. Raises OSError if a command cannot
    be started, and leaves none running.
    """
    with none_outliving():
        return _run(commands, env)


def _run(commands: Sequence[Command], env: Mapping[str, str]) -> list[Ended]:
    started: list[subprocess.Popen[bytes]] = []
    begun, ended = time.monotonic(), dict[int, Ended]()
    try:
        for command in commands:
            started.append(_start(command, env))
        while len(ended) < len(started):
            for number, process in enumerate(started):
                if number not in ended and (code := process.poll()) is not None:
                    ended[number] = Ended(code if code >= 0 else 128 - code, time.monotonic() - begun)
            time.sleep(0.02)
    finally:
        _end([process for process in started if process.poll() is None])
    return [ended[number] for number in range(len(started))]


def _start(command: Command, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    with open(command.output, "ab") as output:
        return subprocess.Popen(
            command.argv, cwd=command.cwd, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True, preexec_fn=_bound_to_us(),  # noqa: PLW1509  there is one thread
        )  # fmt: skip


def _bound_to_us() -> Callable[[], None] | None:
    """Return a function for the child that has it terminated when we are gone; None if the system cannot do that."""
    library, parent = ctypes.CDLL(None), os.getpid()

    def bind() -> None:
        library.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(143)

    return bind if hasattr(library, "prctl") else None


def _end(running: Sequence[subprocess.Popen[bytes]]) -> None:
    """Terminate the processes, and make sure that they end. `wrap` passes the signal on to its agent."""
    for process in running:
        process.terminate()
    deadline = time.monotonic() + PATIENCE
    for process in running:
        try:
            process.wait(max(deadline - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
