"""Whether a garbage collection of git's is at work in this repository, which takes what nothing refers to.

`git gc` says so in a file, on whatever machine it runs. `git prune` and `git repack` do not: where the system lists its
processes as files they are looked for among these."""

from __future__ import annotations

import os
import time

from gitckpt.repo.live import is_alive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitckpt.repo.repository import Repository

#: Seconds after which git itself no longer believes the file of another gc (gc.c: 12 hours).
STALE = 12 * 3600.0

#: Commands of git that remove objects.
COLLECTING = {b"gc", b"prune", b"repack"}


def is_collecting(repository: Repository) -> bool:
    """Whether objects that were unreachable a moment ago may be about to go."""
    return _is_announced(repository.common_dir) or any(_collects(pid, repository) for pid in _git_processes())


def _is_announced(common_dir: bytes) -> bool:
    """Whether a gc that may be alive has left its process id and host name."""
    try:
        with open(os.path.join(common_dir, b"gc.pid"), "rb") as file:
            pid, _, host = file.read(1024).partition(b" ")
            young = time.time() - os.fstat(file.fileno()).st_mtime < STALE
    except OSError:
        return False
    return young and (host.strip() != os.fsencode(os.uname().nodename) or not pid.isdigit() or is_alive(int(pid)))


def _git_processes() -> Iterator[bytes]:
    """Places in the process table of processes that run git; none where there is no such table."""
    try:
        names = os.listdir(b"/proc")
    except OSError:
        return
    for name in names:
        if name.isdigit() and _read(b"/proc/%s/comm" % name).startswith(b"git"):
            yield b"/proc/" + name


def _read(path: bytes) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _collects(process: bytes, repository: Repository) -> bool:
    words = _read(process + b"/cmdline").split(b"\0")
    return not COLLECTING.isdisjoint(words) and _may_be_in(process, repository)


def _may_be_in(process: bytes, repository: Repository) -> bool:
    """Git goes to the top of the work tree. Where that does not tell which repository it is in, it may be in this."""
    try:
        cwd = os.readlink(process + b"/cwd")
    except OSError:
        return True
    common = repository.common_dir
    if (cwd + b"/").startswith(common + b"/"):
        return True
    place = os.path.join(cwd, b".git")
    if not os.path.lexists(place):
        return True
    pointer = b"" if os.path.isdir(place) else _read(place).strip()
    found = os.path.join(cwd, pointer.removeprefix(b"gitdir: ")) if pointer else place
    return (os.path.realpath(found) + b"/").startswith(common + b"/")
