"""A log of failures in hooks of agent clients, which never block the agent and print nothing."""

from __future__ import annotations

import os
import time

from gitckpt.repo.private import append

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.repo.repository import Repository

#: Bytes of the log above which its older half is dropped, and maximum characters of a line.
LARGEST = 64 * 1024
LONGEST = 1000


def log_fault(repository: Repository, text: str) -> None:
    """Append a line to the log. If that fails, say nothing: there is no one to tell."""
    path = log_path(repository)
    line = " ".join(text.split())[:LONGEST]
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    try:
        os.makedirs(repository.private_dir, exist_ok=True)
        if os.path.lexists(path) and os.lstat(path).st_size > LARGEST:
            _halve(path)
        append(path, f"{stamp} {line}".encode("utf-8", "replace"))
    except OSError:
        return


def logged_faults(repository: Repository) -> list[str]:
    """Return the lines, oldest first."""
    try:
        with open(log_path(repository), "rb") as file:
            return file.read(2 * LARGEST).decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def log_path(repository: Repository) -> bytes:
    """The path of the log."""
    return os.path.join(repository.private_dir, b"hooks.log")


def _halve(path: bytes) -> None:
    with open(path, "r+b") as file:
        kept = file.read()[-LARGEST // 2 :].partition(b"\n")[2]
        file.seek(0)
        file.truncate()
        file.write(kept)
