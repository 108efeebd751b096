"""What went wrong in hooks of agent clients, which stand in nobody's way and say nothing on the screen."""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.repo.repository import Repository

#: Bytes of the log at which its older half goes, and characters of a line.
LARGEST = 64 * 1024
LONGEST = 1000


def log_fault(repository: Repository, text: str) -> None:
    """Add a line. Where that cannot be, nothing is said: there is nobody to say it to."""
    path = _path(repository)
    line = " ".join(text.split())[:LONGEST]
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    try:
        os.makedirs(repository.private_dir, exist_ok=True)
        if os.path.lexists(path) and os.lstat(path).st_size > LARGEST:
            _halve(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(path, flags, 0o644)
    except OSError:
        return
    try:
        os.write(descriptor, f"{stamp} {line}\n".encode("utf-8", "replace"))
    except OSError:
        pass
    finally:
        os.close(descriptor)


def logged_faults(repository: Repository) -> list[str]:
    """The lines, oldest first."""
    try:
        with open(_path(repository), "rb") as file:
            return file.read(2 * LARGEST).decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def _path(repository: Repository) -> bytes:
    return os.path.join(repository.private_dir, b"hooks.log")


def _halve(path: bytes) -> None:
    with open(path, "r+b") as file:
        kept = file.read()[-LARGEST // 2 :].partition(b"\n")[2]
        file.seek(0)
        file.truncate()
        file.write(kept)
