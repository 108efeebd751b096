"""Decide who records what an agent under `wrap` says: `wrap`, from the agent's output, or the hooks that the agent was
given. Either could, and whichever comes first does.

A file in the private directory names the owner for as long as the run lasts."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from gitckpt.repo.repository import Repository

    Owner = Literal["wrap", "hooks"]


def claim(repository: Repository, session: str, owner: Owner) -> bool:
    """Claim the words of this session's agent for `owner`, and return whether they are now its to record. If the claim
    cannot be written, they are `wrap`'s."""
    path = _path(repository, session)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        os.write(descriptor, owner.encode())
        os.close(descriptor)
    except FileExistsError:
        return claimed_by(repository, session) == owner
    except OSError:
        return owner == "wrap"
    return True


def claimed_by(repository: Repository, session: str) -> str:
    """Return `wrap`, `hooks`, or "" if nothing has claimed the words yet."""
    try:
        with open(_path(repository, session), "rb") as file:
            # an empty file belongs to a process that is about to write its name: hooks come before the first words
            return file.read(16).decode("ascii", "replace") or "hooks"
    except OSError:
        return ""


def release(repository: Repository, session: str) -> None:
    """Remove the claim, before a run begins or after it ended."""
    try:
        os.unlink(_path(repository, session))
    except OSError:
        pass


def _path(repository: Repository, session: str) -> bytes:
    return os.path.join(repository.private_dir, b"claims", os.fsencode(session))
