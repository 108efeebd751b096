"""Who records what an agent under `wrap` says: `wrap` from its output, or the hooks that it was given. Each could, and
whoever comes first does.

A file of ours says who that is, as long as the run lasts."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from gitckpt.repo.repository import Repository

    Owner = Literal["wrap", "hooks"]


def claim(repository: Repository, session: str, owner: Owner) -> bool:
    """Whether the words of this session's agent are this owner's to record, from now on. Where it cannot be written
    down, they are `wrap`'s."""
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
    """`wrap`, `hooks`, or "" where nobody has come yet."""
    try:
        with open(_path(repository, session), "rb") as file:
            # a file without content is of one who is about to write into it: hooks come before the first words
            return file.read(16).decode("ascii", "replace") or "hooks"
    except OSError:
        return ""


def release(repository: Repository, session: str) -> None:
    """The run begins, or has ended."""
    try:
        os.unlink(_path(repository, session))
    except OSError:
        pass


def _path(repository: Repository, session: str) -> bytes:
    return os.path.join(repository.private_dir, b"claims", os.fsencode(session))
