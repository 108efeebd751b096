"""The edge: the only place where errors become messages and exit statuses."""

from __future__ import annotations

import errno
import os
import sys

from gitckpt.cli import render
from gitckpt.errors import GitckptError, GitFailed

#: No space, no quota, a read-only or failing disk, too many open files, no memory: the system refuses; it is not a bug.
NO_ROOM = (
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EFBIG,
)  # fmt: skip

#: No permission, for example where a container has left files owned by root in the git directory.
NO_RIGHT = (errno.EACCES, errno.EPERM)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def run(command: Callable[[], int], *, json: bool = False) -> int:
    """Run a command and return its exit status, or report the error it ended with and return that error's status."""
    try:
        return command()
    except GitckptError as error:
        _tell(error, json)
        return error.exit_status
    except BrokenPipeError:
        return _reader_gone()
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        told = _refusal(error) if isinstance(error, OSError) and _says_no(error) else _fault(error)
        _tell(told, json)
        return told.exit_status


def _tell(error: GitckptError, json: bool) -> None:
    if isinstance(error, render.UnwritableOutput):
        _silence()
    try:
        if json and not isinstance(error, render.UnwritableOutput):
            from gitckpt.views.event_json import error_document

            render.json(error_document(error))
            return
        render.say(str(error))
        if error.hint:
            render.say(f"  → {error.hint}")
    except (render.UnwritableOutput, BrokenPipeError):
        return  # there is nowhere left to report it; the exit status does


def _says_no(error: OSError) -> bool:
    return error.errno in NO_ROOM + NO_RIGHT


def _refusal(error: OSError) -> GitckptError:
    place = f" ({os.fsdecode(error.filename)})" if error.filename else ""
    remedy = "see who owns it and who may write there" if error.errno in NO_RIGHT else "make room"
    return GitFailed(
        f"the system refused: {error.strerror}{place}", f"{remedy}, and run the command again; nothing was lost"
    )


def _reader_gone() -> int:
    """Handle a closed pipe: the reader of our output is gone."""
    _silence()
    return 141


def _silence() -> None:
    """Redirect standard output, which accepts nothing more, so that the interpreter does not complain when it
    flushes.
    """
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fault(error: Exception) -> GitckptError:
    from gitckpt.cli.fault import fault

    return fault(error, sys.argv[1:])
