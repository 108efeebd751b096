"""Decide when to pack, and run the packing process: detached, at the lowest priority, with nothing waiting for it.

How much it left and how it ended is in `<git dir>/gitckpt/packing.json`; a failure does not stop recording."""

from __future__ import annotations

import json
import os
import sys
import time

from gitckpt.repo.packing import Packing, loose_objects
from gitckpt.repo.private import write_file
from gitckpt.repo.repository import discover

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitckpt.repo.repository import Repository

#: Number of events after which packing is due at the end of a process.
EVENTS_ENOUGH = 32

#: Number of loose objects since the last packing after which the next is due.
LOOSE_ENOUGH = 256

#: Which of the 256 directories of loose objects are counted: object names are evenly distributed.
SAMPLE = range(0, 256, 32)

#: Detaches the packing process at once, so that it is no child of ours.
DETACH = '"$@" </dev/null >/dev/null 2>&1 &'


def pack_if_due(repository: Repository, events: int, *, ending: bool = False) -> None:
    """Start packing in the background if this process has recorded enough `events`, or the store has grown enough."""
    if (ending and events >= EVENTS_ENOUGH) or _estimate(repository) >= LOOSE_ENOUGH + _left(repository):
        _start(repository)


def packing_state(repository: Repository) -> dict[str, Any]:
    """Return how the last packing ended: `at` (seconds since the epoch), `loose` (objects left, an estimate), `failure`
    (what went wrong, or None). Empty if there was none."""
    try:
        with open(_state_path(repository), "rb") as file:
            state = json.loads(file.read(65536))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def _state_path(repository: Repository) -> bytes:
    return os.path.join(repository.common_dir, b"gitckpt", b"packing.json")


def _left(repository: Repository) -> int:
    left = packing_state(repository).get("loose")
    return left if isinstance(left, int) else 0


def _estimate(repository: Repository) -> int:
    """Return approximately how many loose objects there are."""
    return len(loose_objects(repository.objects_dir, SAMPLE)) * 256 // len(SAMPLE)


def _start(repository: Repository) -> None:
    """Start the detached packing process, which takes a few milliseconds."""
    # -P: do not import modules from the current directory
    command = [sys.executable, "-P", "-m", "gitckpt.repo.upkeep", os.fsdecode(repository.work_tree)]
    try:
        pid = os.posix_spawn("/bin/sh", ["sh", "-c", DETACH, "sh", *command], os.environ, setsid=True, setsigmask=())
        os.waitpid(pid, 0)
    except OSError:
        return  # no process could be started, or SIGCHLD is ignored: the next caller will try again


def main(work_tree: bytes) -> None:
    """Pack, and write down the result."""
    os.nice(19)  # Linux derives the I/O priority from this
    os.closerange(3, 1024)  # inherited descriptors: another process may wait for them to be closed
    repository = discover(work_tree)
    os.chdir("/")
    failure = None
    try:
        if not Packing(repository).run():
            return
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
    state = {"at": int(time.time()), "loose": _estimate(repository), "failure": failure}
    write_file(_state_path(repository), json.dumps(state).encode())


if __name__ == "__main__":
    main(os.fsencode(sys.argv[1]))
