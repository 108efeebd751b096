"""Every error that gitckpt raises on purpose, and the exit status that each stands for.

    GitckptError          70  an internal fault, unless a subclass says otherwise
    ├── Negative           1  done, and the answer is no (findings, a verification that failed)
    ├── UsageError         2  the command line, a configuration file or an input is malformed
    ├── Refused            3  nothing was changed, and why
    │   └── UnknownId      3  no such checkpoint; names the nearest
    ├── GitFailed          4  a git call failed; carries the command and git's message
    └── Damaged            5  history is damaged: objects are missing, or refs were deleted from outside

An error says what happened, why, and which command helps (`hint`). Only `cli/edge.py` catches errors and exits.
"""

from __future__ import annotations

import errno
import os

#: What helps where the system refuses, by error number. That it refuses is not a fault of the program.
REMEDIES = {
    errno.ENOSPC: "make room",
    errno.EDQUOT: "make room, or have the quota raised",
    errno.EROFS: "have the file system mounted writable",
    errno.EIO: "see whether the disk is sound",
    errno.EMFILE: "close other programs, or raise the limit on open files (ulimit -n)",
    errno.ENFILE: "close other programs, or raise the limit on open files",
    errno.ENOMEM: "free some memory",
    errno.EFBIG: "raise the limit on the size of a file (ulimit -f)",
    errno.EACCES: "see who owns it and who may write there",
    errno.EPERM: "see who owns it and who may write there",
}


class GitckptError(Exception):
    """Base of all errors raised on purpose. `str(error)` is one or more lines for the user; `hint` names a remedy."""

    exit_status = 70

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Negative(GitckptError):
    """The work was done and the answer is no."""

    exit_status = 1


class UsageError(GitckptError):
    """The command line, a configuration file or an input is malformed."""

    exit_status = 2


class Refused(GitckptError):
    """gitckpt refuses, and has changed nothing."""

    exit_status = 3


class UnknownId(Refused):
    """No checkpoint has this name."""


class GitFailed(GitckptError):
    """A git call failed. The message holds the command, its exit status and git's own message."""

    exit_status = 4


class Damaged(GitckptError):
    """History is damaged: objects are missing or unreadable, or refs were deleted from outside."""

    exit_status = 5


def refusal(error: OSError, again: str) -> GitFailed | None:
    """Return the error to report where the system refuses what is no fault of the program; None if it may be one.
    `again` says how to repeat what failed."""
    remedy = REMEDIES.get(error.errno or 0)
    if remedy is None:
        return None
    place = f" ({os.fsdecode(error.filename)})" if error.filename else ""
    return GitFailed(f"the system refused: {error.strerror}{place}", f"{remedy}, and {again}; nothing was lost")
