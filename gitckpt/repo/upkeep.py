"""When to pack, and the process that does it: detached, at the lowest priority, and nobody waits for it.

What it left and how it ended is in `<git dir>/gitckpt/packing.json`; a failure stops no recording."""

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

#: Events of one process at whose end packing is due.
EVENTS_ENOUGH = 32

#: Loose objects since the last packing at which the next is due.
LOOSE_ENOUGH = 256

#: Of the 256 directories of loose objects those that are counted: names are spread evenly.
SAMPLE = range(0, 256, 32)

#: Lets go of the packing process at once, so that it is nobody's child.
DETACH = '"$@" </dev/null >/dev/null 2>&1 &'


def pack_if_due(repository: Repository, events: int, *, ending: bool = False) -> None:
    """Start packing in the background if this process has recorded enough `events`, or the store has grown enough."""
    if (ending and events >= EVENTS_ENOUGH) or _estimate(repository) >= LOOSE_ENOUGH + _left(repository):
        _start(repository)


def packing_state(repository: Repository) -> dict[str, Any]:
    """How the last packing ended: `at` (seconds since the epoch), `loose` (objects left, an estimate), `failure` (what
    went wrong, or None). Empty where there was none."""
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
    """About how many loose objects there are."""
    return len(loose_objects(repository.objects_dir, SAMPLE)) * 256 // len(SAMPLE)


def _start(repository: Repository) -> None:
    """The packing process belongs to nobody; starting it takes a few milliseconds."""
    # -P: what lies in the current directory is no module of ours
    command = [sys.executable, "-P", "-m", "gitckpt.repo.upkeep", os.fsdecode(repository.work_tree)]
    try:
        pid = os.posix_spawn("/bin/sh", ["sh", "-c", DETACH, "sh", *command], os.environ, setsid=True, setsigmask=())
        os.waitpid(pid, 0)
    except OSError:
        return  # no process to be had, or SIGCHLD is ignored: the next one will see to it


def main(work_tree: bytes) -> None:
    """Pack, and write down how it went."""
    os.nice(19)  # Linux takes the priority of reads and writes from it
    os.closerange(3, 1024)  # whatever came with us: somebody may wait for its end
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
