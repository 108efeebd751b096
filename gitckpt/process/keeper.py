"""One shell command, from its start to the end of all that it has started: run as a process of its own.

    gitckpt ── keeper ── sh ── …

The keeper adopts whoever leaves the tree below it, and lets nobody outlive the command: when the shell has ended, or
when its standard input ends, which gitckpt holds open, all that is left is killed. So nothing goes on writing into the
work tree after a time limit, after Ctrl-C, and not even after gitckpt was killed itself."""

from __future__ import annotations

import os
import select
import signal
import sys
from typing import NoReturn

from gitckpt.process.children import adopt_orphans, wake_on_child
from gitckpt.process.tree import descendants, process_table, send

#: Seconds between two looks at a tree that is being killed.
_MOMENT = 0.01


def keep(command: str) -> int:
    """Run the command; its status as a shell gives it."""
    adopt_orphans()
    wake, _ = wake_on_child()
    shell = os.fork()
    if shell == 0:
        _become_shell(command)
    status = _until_end(shell, wake)
    _kill_all(shell)
    return status


def _become_shell(command: str) -> NoReturn:
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execv("/bin/sh", ["/bin/sh", "-c", command])
    finally:
        os._exit(127)


def _until_end(shell: int, wake: int) -> int:
    """Wait for the shell, and no longer than for the end of standard input."""
    while True:
        ready, _, _ = select.select([0, wake], [], [])
        if wake in ready:
            os.read(wake, 512)
            ended = _reaped(shell)
            if ended is not None:
                return ended
        if 0 in ready and not os.read(0, 512):
            return 128 + signal.SIGKILL


def _reaped(shell: int) -> int | None:
    """Take in all that have ended; the shell's status where it is among them."""
    status = None
    while True:
        try:
            pid, ended = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == shell:
            code = os.waitstatus_to_exitcode(ended)
            status = code if code >= 0 else 128 - code


def _kill_all(shell: int) -> None:
    """Kill what is left, again and again: who is being killed may just have started somebody."""
    while True:
        _reaped(0)
        table = process_table()
        # without a subreaper an orphan is found by the session that the shell leads
        led = [row for row in table.values() if row.group == shell]
        left = [row.pid for row in (*descendants(table, os.getpid()), *led) if not row.is_dead]
        if not left:
            return
        send(left, signal.SIGKILL)  # parents first, who can then neither start another nor tell of it
        select.select([], [], [], _MOMENT)


if __name__ == "__main__":
    sys.exit(keep(sys.argv[1]))
