"""`gitckpt validate`: check files, staged content or a commit message against the rules of the protocol."""

from __future__ import annotations

import os
import sys

from gitckpt.cli import render
from gitckpt.cli.inputs import unreadable
from gitckpt.errors import Refused, UsageError
from gitckpt.protocol.findings import FORMATS
from gitckpt.protocol.reader import read_text
from gitckpt.protocol.rules import Finding, check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def validate(
    files: list[str],
    *,
    staged: bool = False,
    commit_msg: str | None = None,
    format: str = "text",
    strict: bool = False,
    finished: bool = False,
    select: str = "",
    ignore: str = "",
) -> int:
    """Print findings; return 0 if there are none, otherwise 1."""
    if format not in FORMATS:
        raise UsageError(f"--format {format!r} is none of {', '.join(FORMATS)}")
    chosen, ignored = _codes(select, ignore)
    found: list[Finding] = []
    for name, content in _contents(files, staged, commit_msg):
        text = content.decode("utf-8", "replace")
        blocks, diagnostics = read_text(text, keep_all=True)
        found += check(
            blocks, diagnostics, file=name, text_lines=text.split("\n"), strict=strict, finished=finished or None,
            select=chosen, ignore=ignored,
        )  # fmt: skip
    output = FORMATS[format](found)
    if output:
        render.out([output.rstrip("\n")])
    return 1 if found else 0


def _codes(select: str, ignore: str) -> tuple[list[str], list[str]]:
    """Return the codes of the command line, or, if it names none, of the configuration file."""
    from gitckpt.config import validation_codes

    configured_select, configured_ignore = validation_codes(_root())
    chosen = [code for code in select.replace(",", " ").split() if code] or list(configured_select)
    return chosen, [code for code in ignore.replace(",", " ").split() if code] or list(configured_ignore)


def _root() -> bytes:
    """Return the nearest directory upwards that contains `.git` or a configuration file; the current one if there is
    none."""
    from gitckpt.config import FILE

    here = directory = os.getcwdb()
    while True:
        if any(os.path.lexists(os.path.join(directory, name)) for name in (FILE, b".git")):
            return directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return here
        directory = parent


def _contents(files: list[str], staged: bool, commit_msg: str | None) -> Iterator[tuple[str, bytes]]:
    if staged:
        yield from _staged()
    if commit_msg is not None:
        yield commit_msg, _without_comments(_read(commit_msg))
    if not files and not staged and commit_msg is None:
        files = ["-"]
    for name in files:
        yield ("<stdin>", sys.stdin.buffer.read()) if name == "-" else (name, _read(name))


def _staged() -> Iterator[tuple[str, bytes]]:
    from gitckpt.repo.repository import discover
    from gitckpt.repo.staged import staged_contents

    try:
        repository = discover()
    except Refused as error:
        raise UsageError(f"--staged has nothing to look at: {error}", error.hint) from error
    yield from staged_contents(repository)


def _read(name: str) -> bytes:
    try:
        with open(name, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise unreadable(name, error, "validate") from error


def _without_comments(message: bytes) -> bytes:
    """Return the commit message without what git removes: the diff below the scissors, and comments, whose lines stay
    empty."""
    head = message.partition(b"# ------------------------ >8")[0]
    return b"\n".join(b"" if line.startswith(b"#") else line for line in head.split(b"\n"))
