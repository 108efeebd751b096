"""`gitckpt record`: blocks from a file or a pipe, each recorded as it arrives, with the work tree as it is then."""

from __future__ import annotations

import os
import stat

from gitckpt.cli import render
from gitckpt.config import choice
from gitckpt.errors import GitckptError, UsageError
from gitckpt.protocol.reader import BlockReader
from gitckpt.recorder import Recorder, went_on
from gitckpt.repo.repository import discover
from gitckpt.repo.worktree import WorkTree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitckpt.protocol.blocks import Block, Diagnostic

CHUNK = 65536


def record(file: str = "-", *, channel: str = "plain", session: str | None = None, on_retry: str | None = None) -> int:
    """Record every block of the input; 0 where each is on record, 1 where one was no block that can be recorded.

    A RETRY that names a recorded checkpoint puts the work tree back to it (`on_retry` restore), or leaves the files
    (fork)."""
    from gitckpt.restorer import restore_for_retry

    if channel != "plain":
        raise UsageError(f"{channel!r} is no channel that record can read", "--channel plain")
    if on_retry is not None:
        choice(on_retry, ("fork", "restore"), "--on-retry")
    tree = WorkTree(discover(), render.say)
    answer = on_retry or tree.settings.on_retry or "restore"
    recorder = Recorder(tree, name=session, restore=restore_for_retry if answer == "restore" else None)
    reader = BlockReader()
    failures: list[GitckptError] = []
    recorded: set[int] = set()
    is_stream = file == "-" and not stat.S_ISREG(os.fstat(0).st_mode)
    for chunk in _chunks(file):
        recorded |= _record(recorder, reader.feed(chunk), failures, more=is_stream and went_on(chunk), live=is_stream)
    recorded |= _record(recorder, reader.close(), failures)
    tree.close()
    # a block without a footer is on record, and marked; one of which nothing could be made is not
    found = reader.take_diagnostics()
    unread = [d for d in found if d.code == "P003" and d.line not in recorded]
    _tell([d for d in found if d in unread or d.code == "P004"], failures)
    if failures:
        raise failures[0]
    return 1 if unread else 0


def _chunks(file: str) -> Iterator[bytes]:
    try:
        descriptor = 0 if file == "-" else os.open(file, os.O_RDONLY)
    except (OSError, ValueError, AttributeError) as error:
        raise UsageError(
            f"{file!r} cannot be read: {error}", "give the path of a file, or - for standard input"
        ) from error
    try:
        while chunk := os.read(descriptor, CHUNK):
            yield chunk
    except OSError as error:
        raise UsageError(f"{file!r} cannot be read: {error.strerror}") from error
    finally:
        if file != "-":
            os.close(descriptor)


def _record(
    recorder: Recorder, blocks: list[Block], failures: list[GitckptError], *, more: bool = False, live: bool = False
) -> set[int]:
    """Record blocks; the lines that those on record stand on. One that cannot be recorded stops none after it."""
    recorded = set()
    for place, block in enumerate(blocks):
        try:
            recorder.record(block, late=live and (more or place < len(blocks) - 1))
            recorded.add(block.line)
        except GitckptError as error:
            render.say(f"{block.kind} {block.written or ''} in line {block.line} is NOT recorded: {error}")
            failures.append(error)
    return recorded


def _tell(diagnostics: list[Diagnostic], failures: list[GitckptError]) -> None:
    for diagnostic in diagnostics:
        render.say(f"line {diagnostic.line}: {diagnostic.code} {diagnostic.message}")
    if failures:
        render.say(f"{len(failures)} blocks are not on record")
