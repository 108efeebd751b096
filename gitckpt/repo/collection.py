"""Detect whether a garbage collection by git, which removes unreferenced objects, is running in this repository.

`git gc` announces itself in a file, whatever machine it runs on. `git prune` and `git repack` do not; where the system
lists its processes as files, they are looked for there."""

from __future__ import annotations

import os
import time

from gitckpt.repo.live import is_alive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitckpt.repo.repository import Repository

#: Seconds after which git itself ignores the file of another gc (gc.c: 12 hours).
STALE = 12 * 3600.0

#: The git commands that remove objects.
COLLECTING = {b"gc", b"prune", b"repack"}


def is_collecting(repository: Repository) -> bool:
    """Return whether objects that were unreachable a moment ago may be about to be removed."""
    return _is_announced(repository.common_dir) or any(_collects(pid, repository) for pid in _git_processes())


def _is_announced(common_dir: bytes) -> bool:
    """Return whether a gc that may be alive has left its process id and host name."""
    try:
        with open(os.path.join(common_dir, b"gc.pid"), "rb") as file:
            pid, _, host = file.read(1024).partition(b" ")
            young = time.time() - os.fstat(file.fileno()).st_mtime < STALE
    except OSError:
        return False
    return young and (host.strip() != os.fsencode(os.uname().nodename) or not pid.isdigit() or is_alive(int(pid)))


def _git_processes() -> Iterator[bytes]:
    """Yield the directories in the process table of processes that run git; none if there is no such table."""
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
    """Return whether a git process may be working in this repository. Git changes to the top of the work tree; if that
    does not tell which repository it is in, assume this one."""
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
