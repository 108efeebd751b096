"""Files that are named on the command line, and cannot be read."""

from __future__ import annotations

from gitckpt.errors import UsageError


def unreadable(file: str, error: Exception, command: str) -> UsageError:
    """What to raise where the `file` given to a `command` of ours cannot be opened or read."""
    reason = getattr(error, "strerror", None) or error
    help = f"give the path of a file, or - for standard input: gitckpt {command} -"
    return UsageError(f"{file!r} cannot be read: {reason}", help)
