"""Every error that gitckpt raises on purpose, and the exit status that each stands for.

    GitckptError          70  a fault of ours, unless a subclass says otherwise
    ├── Negative           1  done, and the answer is no (findings, a verification that failed)
    ├── UsageError         2  the command line, a configuration file or an input is not of the form asked for
    ├── Refused            3  nothing was changed, and why
    │   └── UnknownId      3  no such checkpoint; names the nearest
    ├── GitFailed          4  a git call failed; carries the command and what git said
    └── Damaged            5  history is damaged: missing objects, refs deleted by somebody

An error says what happened, why, and the command that helps (`hint`). Only `cli/edge.py` catches and exits.
"""

from __future__ import annotations


class GitckptError(Exception):
    """Base of all errors raised on purpose. `str(error)` is one or more lines for a person; `hint` is what helps."""

    exit_status = 70

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Negative(GitckptError):
    """The work was done and the answer is no."""

    exit_status = 1


class UsageError(GitckptError):
    """The command line, a configuration file or an input is not of the form asked for."""

    exit_status = 2


class Refused(GitckptError):
    """gitckpt will not do it, and has changed nothing."""

    exit_status = 3


class UnknownId(Refused):
    """No checkpoint goes by this name."""


class GitFailed(GitckptError):
    """A git call failed; the message holds the command, its exit status and what git said."""

    exit_status = 4


class Damaged(GitckptError):
    """History is damaged: objects are missing or unreadable, or refs were deleted by somebody."""

    exit_status = 5
