"""The only module that prints. Text is written as UTF-8 whatever the locale; colours and widths apply only to
terminals."""

from __future__ import annotations

import os
import sys

from gitckpt.errors import GitckptError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, TextIO

    from gitckpt.views.text import Style


class UnwritableOutput(GitckptError):
    """The output could not be printed, mostly because of a full disk. The work itself is done."""

    exit_status = 4


def out(lines: Iterable[str]) -> None:
    """Print lines on standard output."""
    write(sys.stdout, "".join(f"{line}\n" for line in lines))


def paged(lines: Iterable[str]) -> None:
    """Print lines on standard output; on a terminal with fewer rows, through the user's pager."""
    paged_bytes("".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))


def paged_bytes(content: bytes) -> None:
    """Do the same for bytes."""
    if is_terminal() and content.count(b"\n") >= _rows():
        from gitckpt.cli.pager import show_in_pager

        if show_in_pager(content):
            return
    raw(content)


def _rows() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).lines or 24
    except (OSError, ValueError):
        return 24


def shown(text: str) -> str:
    """Return the text unchanged for a pipe or a file; for a terminal, escape control characters except line ends."""
    from gitckpt.views.text import escape

    return escape(text, multiline=True) if is_terminal() else text


def raw(content: bytes) -> None:
    """Write bytes to standard output, unchanged."""
    _write(sys.stdout, content, "standard output")


def json(document: Mapping[str, Any]) -> None:
    """Print one JSON document on standard output."""
    from gitckpt.views.event_json import json_text

    out([json_text(document)])


def say(text: str) -> None:
    """Print a message of gitckpt on standard error."""
    from gitckpt.views.text import escape

    write(sys.stderr, f"gitckpt: {escape(text, multiline=True)}\n")


def write(stream: TextIO | None, text: str) -> None:
    """Write text to a stream, unchanged. Raises UnwritableOutput if the stream cannot be written; a closed one is like
    /dev/null.
    """
    if stream is not None:
        _write(stream, text.encode("utf-8", "backslashreplace"), stream.name.strip("<>"))


def _write(stream: TextIO | None, content: bytes, name: str) -> None:
    if stream is None or stream.closed:
        return
    try:
        stream.flush()
        stream.buffer.write(content)
        stream.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UnwritableOutput(f"{name} cannot be written: {error.strerror}") from error


def is_terminal(stream: TextIO | None = None) -> bool:
    """Return whether the stream, by default standard output, is a terminal."""
    try:
        return (stream or sys.stdout).isatty()
    except (AttributeError, ValueError):
        return False


def is_asked() -> bool:
    """Return whether the user can be asked. Without a terminal, the command line alone decides."""
    return is_terminal() and sys.stdin is not None and sys.stdin.isatty()


def agrees(question: str) -> bool:
    """Return whether the user answers yes; the end of the input means no."""
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        return False


def style() -> Style:
    """Return a style with colours on a terminal, unless `NO_COLOR` is set or the terminal is dumb."""
    from gitckpt.views.text import Style

    terminal = is_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Style(colour=terminal)


def columns() -> int | None:
    """Return the width of the terminal, or None if output goes elsewhere and must not be cut."""
    if not is_terminal():
        return None
    try:
        return int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
