"""The edge: the only place where errors become messages and exit statuses."""

from __future__ import annotations

import os
import sys

from gitckpt.cli import render
from gitckpt.errors import GitckptError, refusal

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
        refused = refusal(error, "run the command again") if isinstance(error, OSError) else None
        told = refused or _fault(error)
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
