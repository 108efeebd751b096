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
