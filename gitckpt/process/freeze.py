"""Stops an agent's whole process tree while a snapshot is taken, so that the snapshot shows a single instant.

A child of ours, the guardian, does it: it stops the tree, waits until we close our end of a pipe, and continues the
tree. The system closes the pipe for us if we are killed, so a stopped agent is always continued. The guardian is in a
session of its own, out of reach of signals to our process group.
"""

from __future__ import annotations

import os
import select
import struct
import time

from gitckpt.process.descriptors import close_all_but
from gitckpt.process.standstill import continue_all, stop_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from gitckpt.process.tree import AgentTree

#: Seconds after which the tree is continued in any case; every client that was measured survives a stop of this length.
LONGEST = 4.0

#: Exit statuses of the guardian: told to let go, or the time was up.
LET_GO, LAPSED = 0, 3

_PID = struct.Struct("i")
_ALL_STOPPED, _SOME_RUN = 0, -1


class Freeze:
    """A context in which the agent's processes are stopped.

    `held` says afterwards whether they were stopped from beginning to end: False if that took longer than LONGEST
    seconds, or if the system could not stop them. Leaving the context continues exactly those processes that entering
    it stopped.
    """

    __slots__ = ("_guardian", "_release", "_stopped", "_tree", "held")

    def __init__(self, tree: AgentTree) -> None:
        self._tree, self.held = tree, False
        self._guardian, self._release = 0, -1
        self._stopped: list[int] = []

    def __enter__(self) -> Freeze:
        watched, self._release = os.pipe()
        answers, report = os.pipe()
        try:
            self._guardian = _start_guardian(self._tree, watched, report)
        except OSError:  # no process available: a snapshot without a stop is better than none
            pass
        os.close(watched)
        os.close(report)
        self._stopped, self.held = _read_pids(answers)
        os.close(answers)
        return self

    def __exit__(self, *_exception: object) -> None:
        os.close(self._release)
        if self._guardian:
            status = os.waitstatus_to_exitcode(os.waitpid(self._guardian, 0)[1])
            self.held = self.held and status == LET_GO
            if status not in (LET_GO, LAPSED):  # the guardian was killed
                continue_all(self._stopped)


def _read_pids(answers: int) -> tuple[list[int], bool]:
    """Return the processes that the guardian stops, and whether all of them are stopped. Blocks until they are, or the
    guardian is gone."""
    stopped: list[int] = []
    while record := os.read(answers, _PID.size):
        (number,) = _PID.unpack(record)
        if number <= 0:
            return stopped, number == _ALL_STOPPED
        stopped.append(number)
    return stopped, False


def _start_guardian(tree: AgentTree, watched: int, report: int) -> int:
    guardian = os.fork()
    if guardian == 0:
        _guard(tree, watched, report)
    return guardian


def _guard(tree: AgentTree, watched: int, report: int) -> NoReturn:
    status = LAPSED
    stopped: list[int] = []
    try:
        os.setsid()
        close_all_but({watched, report})
        let_go_by = time.monotonic() + LONGEST
        still = stop_all(tree.members, stopped, lambda pid: os.write(report, _PID.pack(pid)))
        os.write(report, _PID.pack(_ALL_STOPPED if still else _SOME_RUN))
        if select.select([watched], [], [], max(0.0, let_go_by - time.monotonic()))[0]:
            status = LET_GO
    finally:
        continue_all(stopped)
        os._exit(status)
