"""The error for files named on the command line that cannot be read."""

from __future__ import annotations

from gitckpt.errors import UsageError


def unreadable(file: str, error: Exception, command: str) -> UsageError:
    """Return the error to raise if the `file` given to a gitckpt `command` cannot be opened or read."""
    reason = getattr(error, "strerror", None) or error
    help = f"give the path of a file, or - for standard input: gitckpt {command} -"
    return UsageError(f"{file!r} cannot be read: {reason}", help)
