"""Stops many processes as one, so that a snapshot or a signal finds all of them in the state of a single moment."""

from __future__ import annotations

import os
import signal
import time

from gitckpt.process.tree import is_out_of_the_way, send

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitckpt.process.tree import AgentTree, Process

#: How many seconds to wait for processes to stop: on a busy machine each of them must get scheduled first. One that
#: waits for a disk may not stop for a long time.
SETTLE, SETTLE_ON_DISK = 2.0, 0.25

#: Seconds between two looks.
LOOK = 0.0005


def stop_all(find: Callable[[], list[Process]], stopped: list[int], announce: Callable[[int], object]) -> bool:
    """Stop every running process that `find` returns, parents first, and add it to `stopped`; `announce` is called with
    each beforehand.

    Return True once `find` has returned no running process twice in a row: what was forked during the first look is
    found by the second. Return False if some did not stop in time. Processes that were stopped before are left alone,
    and so are those that we may not stop.
    """
    immune: set[int] = set()
    began, clean_looks = time.monotonic(), 0
    while clean_looks < 2:
        running = [row for row in find() if row.pid not in immune and not _is_done(row, stopped)]
        clean_looks = 0 if running else clean_looks + 1
        for generation in _generations([row for row in running if row.pid not in stopped]):
            for pid in generation:
                announce(pid)
                stopped.append(pid)
                immune.update(_refused(pid))
            _let_stop(generation, began + SETTLE)
        if running and time.monotonic() - began > (SETTLE_ON_DISK if all(row.waits for row in running) else SETTLE):
            return False
    return True


def _is_done(row: Process, stopped: list[int]) -> bool:
    """Return whether the process will not run. One that waits for a vforked child counts only if we have stopped it:
    the stop takes effect as soon as the wait ends."""
    return row.stands_still if row.pid in stopped else row.is_stopped


def _generations(rows: list[Process]) -> list[list[int]]:
    """Group the processes by how many ancestors they have among `rows`, which lists parents before children."""
    depth: dict[int, int] = {}
    for row in rows:
        depth[row.pid] = depth.get(row.parent, -1) + 1
    return [[pid for pid in depth if depth[pid] == level] for level in range(max(depth.values(), default=-1) + 1)]


def _let_stop(generation: list[int], deadline: float) -> None:
    """Wait until these processes have stopped, before their children are stopped: otherwise a shell waiting for a child
    would still wake up and find it stopped."""
    while time.monotonic() < deadline and not all(map(is_out_of_the_way, generation)):
        time.sleep(LOOK)


def _refused(pid: int) -> set[int]:
    try:
        os.kill(pid, signal.SIGSTOP)
    except OSError:
        return {pid}
    return set()


def continue_all(stopped: list[int]) -> None:
    """Continue these processes, the last stopped first, so that no shell ever wakes up while a child of it is
    stopped."""
    send(reversed(stopped), signal.SIGCONT)


def signal_all(tree: AgentTree, number: int) -> set[int]:
    """Send a signal once to every process that the agent holds, and return their process ids.

    All of them are stopped meanwhile. Otherwise a process that forks or leaves a group at the wrong moment would be
    missed, or a process started by a signal handler would get that same signal.
    """
    stopped: list[int] = []
    try:
        stop_all(tree.held, stopped, lambda _pid: None)
        meant = {row.pid for row in tree.held()}
        send(meant, number)
    finally:
        continue_all(stopped)
    return meant
