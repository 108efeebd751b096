"""The processes below an agent: who they are now, and how a signal reaches them."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: States of a process that runs no code: stopped, traced, and dead in two spellings.
STILL = "TtZX"
DEAD = "ZX"

#: State of one that waits in the kernel and cannot be stopped there; where it does in a vfork(2), by version of Linux.
WAITING = "D"
VFORK = (b"kernel_clone", b"_do_fork", b"do_fork")

#: What stands for the fields of a process that has just gone.
GONE = [b"X"]


class Process(NamedTuple):
    """One row of the process table. `state` is the letter that ps prints."""

    pid: int
    parent: int
    group: int
    state: str
    threads: int = 1

    @property
    def is_dead(self) -> bool:
        return self.state in DEAD and self.threads <= 1

    @property
    def waits(self) -> bool:
        """Whether it waits in the kernel, for a disk most often, and cannot be stopped there."""
        return self.state == WAITING

    @property
    def is_stopped(self) -> bool:
        """Whether all threads of it are stopped, or dead."""
        return self._every_thread(_is_stopped)

    @property
    def stands_still(self) -> bool:
        """Whether no thread of it runs: all are stopped, or wait for a child to come out of a vfork."""
        return self._every_thread(lambda thread, state: _is_stopped(thread, state) or _waits_for_vfork(thread, state))

    def _every_thread(self, holds: Callable[[str, str], bool]) -> bool:
        if self.threads <= 1:
            return holds(f"/proc/{self.pid}", self.state)
        threads = _entries(f"/proc/{self.pid}/task")
        return all(holds(thread, chr(_stat_fields(thread)[0][0])) for thread in threads)


def process_table() -> dict[int, Process]:
    """All processes by their id."""
    rows = _rows_of_proc() if sys.platform == "linux" else rows_of_ps()
    return {row.pid: row for row in rows}


def _rows_of_proc() -> Iterator[Process]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            row = _row_of_proc(name)
            if row is not None:
                yield row


def _row_of_proc(name: str) -> Process | None:
    fields = _stat_fields(f"/proc/{name}")
    if fields == GONE:
        return None
    return Process(int(name), int(fields[1]), int(fields[2]), chr(fields[0][0]), int(fields[17]))


def find_process(pid: int) -> Process | None:
    """One row of the table, or None if there is no such process."""
    return _row_of_proc(str(pid)) if sys.platform == "linux" else process_table().get(pid)


def is_out_of_the_way(pid: int) -> bool:
    """Whether the process is gone, stands still, or waits in the kernel."""
    row = find_process(pid)
    return row is None or row.stands_still or row.waits


def rows_of_ps() -> Iterator[Process]:
    """The same from the command ps, for systems without /proc; it does not tell threads."""
    import subprocess

    listing = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,pgid=,stat="], capture_output=True, check=False).stdout
    for fields in map(bytes.split, listing.splitlines()):
        yield Process(int(fields[0]), int(fields[1]), int(fields[2]), chr(fields[3][0]))


def _stat_fields(directory: str) -> list[bytes]:
    # The command's name stands in brackets and may hold anything, brackets too.
    return _read(f"{directory}/stat").rpartition(b")")[2].split() or GONE


def _read(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _entries(directory: str) -> list[str]:
    try:
        return [f"{directory}/{name}" for name in os.listdir(directory)]
    except OSError:
        return []


def _is_stopped(_thread: str, state: str) -> bool:
    return state in STILL


def _waits_for_vfork(thread: str, state: str) -> bool:
    return state == WAITING and _read(f"{thread}/wchan") in VFORK


def command_line(pid: int) -> str:
    """The command that a process runs, for a person to read; "" if it is gone."""
    if sys.platform == "linux":
        return os.fsdecode(_read(f"/proc/{pid}/cmdline").rstrip(b"\0").replace(b"\0", b" "))
    import subprocess

    return os.fsdecode(subprocess.run(["ps", "-p", str(pid), "-o", "command="], capture_output=True).stdout.strip())


def descendants(table: dict[int, Process], root: int) -> list[Process]:
    """All below `root`, parents before their children."""
    children: dict[int, list[Process]] = {}
    for row in table.values():
        children.setdefault(row.parent, []).append(row)
    found = list(children.get(root, ()))
    for row in found:  # grows as it is walked
        found += children.get(row.pid, ())
    return found


def send(pids: Iterable[int], signal_number: int) -> None:
    """Send a signal to each that is still there and ours."""
    for pid in pids:
        try:
            os.kill(pid, signal_number)
        except OSError:
            pass


class AgentTree:
    """The agent `agent` and all that descends from it, below the process `monitor` that adopts its orphans.

    `own_group` says that the agent leads a process group, which then holds nobody else's processes.
    """

    def __init__(self, monitor: int, agent: int, own_group: bool) -> None:
        self.monitor, self.agent, self.own_group = monitor, agent, own_group

    def members(self) -> list[Process]:
        """Every living process of the tree, parents before their children."""
        return [row for row in descendants(process_table(), self.monitor) if not row.is_dead]

    def held(self) -> list[Process]:
        """The agent and all that it has not let go: what a signal to the agent is for.

        Let go are orphans outside its process group, and what they have started: helpers that are to outlive it.
        """
        table = process_table()
        led = {row.pid for row in table.values() if self.own_group and row.group == self.agent}
        below = {self.agent, *(row.pid for row in descendants(table, self.agent))}
        return [row for row in descendants(table, self.monitor) if row.pid in led | below and not row.is_dead]
