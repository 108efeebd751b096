"""The processes below an agent: which they are now, and how a signal reaches them."""

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

#: The state of a process that waits in the kernel and cannot be stopped there; and the kernel functions in which it
#: waits during a vfork(2), depending on the Linux version.
WAITING = "D"
VFORK = (b"kernel_clone", b"_do_fork", b"do_fork")

#: Stands for the fields of a process that has just disappeared.
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
        """Whether it waits in the kernel, usually for a disk, and cannot be stopped there."""
        return self.state == WAITING

    @property
    def is_stopped(self) -> bool:
        """Whether all its threads are stopped or dead."""
        return self._every_thread(_is_stopped)

    @property
    def stands_still(self) -> bool:
        """Whether none of its threads runs: all are stopped, or wait for a vforked child."""
        return self._every_thread(lambda thread, state: _is_stopped(thread, state) or _waits_for_vfork(thread, state))

    def _every_thread(self, holds: Callable[[str, str], bool]) -> bool:
        if self.threads <= 1:
            return holds(f"/proc/{self.pid}", self.state)
        threads = _entries(f"/proc/{self.pid}/task")
        return all(holds(thread, chr(_stat_fields(thread)[0][0])) for thread in threads)


def process_table() -> dict[int, Process]:
    """Return all processes, by process id."""
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
    """Return one row of the table, or None if there is no such process."""
    return _row_of_proc(str(pid)) if sys.platform == "linux" else process_table().get(pid)


def is_out_of_the_way(pid: int) -> bool:
    """Return whether the process is gone, does not run, or waits in the kernel."""
    row = find_process(pid)
    return row is None or row.stands_still or row.waits


def rows_of_ps() -> Iterator[Process]:
    """Yield the rows from ps, for systems without /proc; they lack the number of threads."""
    import subprocess

    listing = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,pgid=,stat="], capture_output=True, check=False).stdout
    for fields in map(bytes.split, listing.splitlines()):
        yield Process(int(fields[0]), int(fields[1]), int(fields[2]), chr(fields[3][0]))


def _stat_fields(directory: str) -> list[bytes]:
    # The command's name is in parentheses and may contain anything, even parentheses.
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
    """Return the command line of a process, for the user; "" if it is gone."""
    if sys.platform == "linux":
        return os.fsdecode(_read(f"/proc/{pid}/cmdline").rstrip(b"\0").replace(b"\0", b" "))
    import subprocess

    return os.fsdecode(subprocess.run(["ps", "-p", str(pid), "-o", "command="], capture_output=True).stdout.strip())


def descendants(table: dict[int, Process], root: int) -> list[Process]:
    """Return all processes below `root`, parents before their children."""
    children: dict[int, list[Process]] = {}
    for row in table.values():
        children.setdefault(row.parent, []).append(row)
    found = list(children.get(root, ()))
    for row in found:  # grows during the iteration
        found += children.get(row.pid, ())
    return found


def send(pids: Iterable[int], signal_number: int) -> None:
    """Send a signal to each process that still exists and that we may signal."""
    for pid in pids:
        try:
            os.kill(pid, signal_number)
        except OSError:
            pass


class AgentTree:
    """The process `agent` and all its descendants, below the process `monitor`, which adopts its orphans.

    `own_group` says that the agent leads a process group, which then holds no one else's processes.
    """

    def __init__(self, monitor: int, agent: int, own_group: bool) -> None:
        self.monitor, self.agent, self.own_group = monitor, agent, own_group

    def members(self) -> list[Process]:
        """Return every living process of the tree, parents before their children."""
        return [row for row in descendants(process_table(), self.monitor) if not row.is_dead]

    def held(self) -> list[Process]:
        """Return the agent and all processes that it has not released: those that a signal to the agent is for.

        Released are orphans outside its process group, and what they have started: helpers that are meant to outlive
        it.
        """
        table = process_table()
        led = {row.pid for row in table.values() if self.own_group and row.group == self.agent}
        below = {self.agent, *(row.pid for row in descendants(table, self.agent))}
        return [row for row in descendants(table, self.monitor) if row.pid in led | below and not row.is_dead]
