"""Turns a forked process into the agent: process group, streams, directory, signals, program."""

from __future__ import annotations

import errno
import os
import signal
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn

    from gitckpt.process.streams import Streams


class Launch(NamedTuple):
    """How to start an agent: the file to run, its arguments and environment, its working directory and its streams."""

    program: str
    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    streams: Streams


def become_agent(launch: Launch, report: int) -> NoReturn:
    """Turn this process into the agent. If that fails, write errno to the pipe `report` as four bytes,
    little-endian."""
    try:
        if launch.streams.placement != "shared":
            os.setpgid(0, 0)
        if launch.streams.tty >= 0:
            os.tcsetpgrp(launch.streams.tty, os.getpid())  # SIGTTOU is still blocked
        _place_stdio(launch.streams.stdio)
        os.chdir(launch.cwd)
        _reset_signals()
        _execute(launch)
    except OSError as error:
        os.write(report, (error.errno or errno.EINVAL).to_bytes(4, "little"))
    except ValueError:  # a NUL in an argument
        os.write(report, errno.EINVAL.to_bytes(4, "little"))
    finally:
        os._exit(127)


def _place_stdio(stdio: tuple[int | None, int, int]) -> None:
    for target, source in enumerate(stdio):
        if source is None:
            os.close(target)
        elif source != target:
            os.dup2(source, target)


def _reset_signals() -> None:
    """Reset every signal to its default and unblock all; only a SIGHUP that nohup ignores stays ignored.

    Python ignores SIGPIPE, and a shell script starts its background jobs with INT and QUIT ignored.
    """
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            try:
                signal.signal(number, signal.SIG_DFL)
            except OSError:  # reserved by the C library
                pass
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _execute(launch: Launch) -> None:
    try:
        os.execve(launch.program, list(launch.argv), dict(launch.env))
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
    # A script without a `#!` line goes to the shell, as with execvp(3).
    os.execve("/bin/sh", ["/bin/sh", launch.program, *launch.argv[1:]], dict(launch.env))
