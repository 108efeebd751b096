"""The edge: the one place where errors become messages and exit statuses."""

from __future__ import annotations

import os
import sys

from gitckpt.cli import render
from gitckpt.errors import GitckptError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def run(command: Callable[[], int], *, json: bool = False) -> int:
    """Run a command; its exit status, or that of the error it ended with, which is then told."""
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
        fault = _fault(error)
        _tell(fault, json)
        return fault.exit_status


def _tell(error: GitckptError, json: bool) -> None:
    try:
        if json and not isinstance(error, render.UnwritableOutput):
            from gitckpt.views.event_json import error_document

            render.json(error_document(error))
            return
        render.say(str(error))
        if error.hint:
            render.say(f"  → {error.hint}")
    except (render.UnwritableOutput, BrokenPipeError):
        return  # there is nowhere left to tell it; the exit status does


def _reader_gone() -> int:
    """Whoever read our output has left; the interpreter must not complain about it when it flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141


def _fault(error: Exception) -> GitckptError:
    """A fault of ours, with a report that holds code places only: no values, no content, no names of files."""
    import tempfile
    import traceback

    from gitckpt import __version__

    frames = traceback.extract_tb(error.__traceback__)
    lines = [f"gitckpt {__version__}, Python {sys.version.split()[0]}, {sys.platform}", type(error).__name__]
    lines += [f"  {os.path.basename(f.filename)}:{f.lineno} in {f.name}: {f.line}" for f in frames]
    try:
        with tempfile.NamedTemporaryFile("w", prefix="gitckpt-fault-", suffix=".txt", delete=False) as report:
            report.write("\n".join(lines) + "\n")
        place = f"a report without any of your content is in {report.name}"
    except OSError:
        place = "; ".join(lines)
    return GitckptError(
        f"this is a fault of gitckpt: {type(error).__name__}: {error}\n{place}",
        "please report it with that file; nothing was lost: `gitckpt log` shows what is on record",
    )
