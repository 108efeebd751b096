"""Stopping many processes as one, so that a snapshot or a signal finds them all as they were at one moment."""

from __future__ import annotations

import os
import signal
import time

from gitckpt.process.tree import send

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitckpt.process.tree import AgentTree, Process

#: Seconds to wait for processes that do not stop because they wait for a disk.
SETTLE = 0.25


def stop_all(find: Callable[[], list[Process]], stopped: list[int], announce: Callable[[int], object]) -> None:
    """Stop every running process that `find` gives, and add it to `stopped`; `announce` is told of each before it is.

    Returns when `find` gives none that runs: what was forked while we looked is found by looking again. Processes that
    were stopped before are left alone, and so are those that are not ours to stop.
    """
    immune: set[int] = set()
    give_up = time.monotonic() + SETTLE
    while time.monotonic() < give_up:
        running = [row.pid for row in find() if row.pid not in immune and not row.stands_still]
        if not running:
            return
        for pid in running:
            if pid not in stopped:
                announce(pid)
                stopped.append(pid)
                immune.update(_refused(pid))


def _refused(pid: int) -> set[int]:
    try:
        os.kill(pid, signal.SIGSTOP)
    except OSError:
        return {pid}
    return set()


def continue_all(stopped: list[int]) -> None:
    """Continue these, the last stopped first: a shell is then never awake to find a child of its own stopped."""
    send(reversed(stopped), signal.SIGCONT)


def signal_all(tree: AgentTree, number: int) -> set[int]:
    """Send a signal to all that the agent holds, and give whom it went to: each of them, once.

    They stand still meanwhile. Else a child forked or a group left at the wrong moment would be missed, or what a
    handler starts would be hit by the signal that the handler is for.
    """
    stopped: list[int] = []
    try:
        stop_all(tree.held, stopped, lambda _pid: None)
        meant = {row.pid for row in tree.held()}
        send(meant, number)
    finally:
        continue_all(stopped)
    return meant
