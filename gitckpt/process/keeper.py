"""Runs one shell command as a separate process, until everything that the command started has ended.

    gitckpt ── keeper ── sh ── …

The keeper adopts orphans in the tree below it, and lets no process outlive the command. It kills what is left when the
shell has ended, or when its standard input, which gitckpt holds open, is closed. So nothing goes on writing into the
work tree after a timeout, after Ctrl-C, or even after gitckpt itself was killed.
"""

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
    """Run the command and return its exit status as a shell gives it."""
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
    """Wait until the shell ends, or standard input is closed."""
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
    """Reap all ended children. Return the shell's status if it is among them."""
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
    """Kill what is left, repeatedly: a process may have forked just before it was killed."""
    while True:
        _reaped(0)
        table = process_table()
        # without a subreaper, orphans are found by the process group that the shell leads
        led = [row for row in table.values() if row.group == shell]
        left = [row.pid for row in (*descendants(table, os.getpid()), *led) if not row.is_dead]
        if not left:
            return
        send(left, signal.SIGKILL)  # parents first: they can then neither fork again nor report the death
        select.select([], [], [], _MOMENT)


if __name__ == "__main__":
    sys.exit(keep(sys.argv[1]))
