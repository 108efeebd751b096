"""`gitckpt record`: record blocks from a file or a pipe as they arrive, each with the current work tree."""

from __future__ import annotations

import os
import stat
import sys

from gitckpt.agents.signals import Lost
from gitckpt.agents.spoken import Told
from gitckpt.agents.stream import TextStream
from gitckpt.agents.wording import lost_words, repeated_words
from gitckpt.cli import render
from gitckpt.cli.elapsed import while_telling
from gitckpt.cli.inputs import unreadable
from gitckpt.config import choice
from gitckpt.errors import GitckptError
from gitckpt.recorder import Recorder
from gitckpt.repo.repository import discover
from gitckpt.repo.worktree import WorkTree
from gitckpt.views.text import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitckpt.agents.stream import Item, Stream
    from gitckpt.protocol.blocks import Diagnostic

CHUNK = 65536


def record(file: str = "-", *, channel: str = "plain", session: str | None = None, on_retry: str | None = None) -> int:
    """Record every block of the input; return 0 if all are on record, 1 if one could not be recorded.

    A RETRY that names a recorded checkpoint restores the work tree to it (`on_retry` is restore), or leaves the files
    (fork)."""
    from gitckpt.restorer import restore_for_retry

    stream = _stream(channel)
    if on_retry is not None:
        choice(on_retry, ("fork", "restore"), "--on-retry")
    tree = WorkTree(discover(), render.say)
    answer = on_retry or tree.settings.on_retry or "restore"
    restore = restore_for_retry if answer == "restore" else None
    recording = _Recording(
        Recorder(tree, name=session, restore=restore, around=while_telling),
        live=file == "-" and not stat.S_ISREG(os.fstat(0).st_mode),
    )
    for chunk in _chunks(file):
        recording.take(stream.feed(chunk))
    recording.take(stream.close())
    tree.close()
    _account(recording.recorder)
    return recording.tell(stream.take_diagnostics())


def _stream(channel: str) -> Stream:
    if channel == "plain":
        return TextStream()
    from gitckpt.agents.table import channel_named

    stream = channel_named(channel).stream("stdout")
    assert stream is not None
    return stream


def _chunks(file: str) -> Iterator[bytes]:
    try:
        descriptor = 0 if file == "-" else os.open(file, os.O_RDONLY)
    except (OSError, ValueError, AttributeError) as error:
        raise unreadable(file, error, "record") from error
    try:
        while chunk := os.read(descriptor, CHUNK):
            yield chunk
    except OSError as error:
        raise unreadable(file, error, "record") from error
    finally:
        if file != "-":
            os.close(descriptor)


class _Recording:
    """Records the blocks of one input. `live` means that it is a pipe whose end has not been reached."""

    def __init__(self, recorder: Recorder, *, live: bool) -> None:
        self.recorder, self._live = recorder, live
        self._failures: list[GitckptError | OSError] = []
        self._lines: set[int] = set()
        self._lost: dict[str, int] = {}
        self._repeated = 0

    def take(self, items: list[Item]) -> None:
        """Record the blocks. A block that cannot be recorded does not stop those after it."""
        for item in items:
            if isinstance(item, Lost):
                self._lost[item.reason] = self._lost.get(item.reason, 0) + 1
            elif isinstance(item, Told):
                self._record(item)

    def _record(self, told: Told) -> None:
        block = told.block
        try:
            if told.source and self.recorder.holds(told.source):
                self._repeated += 1
            else:
                self.recorder.record(block, late=self._live and told.late, source=told.source)
            self._lines.add(block.line)
        except (GitckptError, OSError) as error:
            render.say(f"{block.kind} {block.written or ''} in line {block.line} is NOT recorded: {error}")
            self._failures.append(error)

    def tell(self, diagnostics: list[Diagnostic]) -> int:
        """Report what is not on record and return the exit status. Raises the first error, if any."""
        # a block without a footer is on record, and marked; an unreadable one is not
        unread = [found for found in diagnostics if found.code == "P003" and found.line not in self._lines]
        for found in diagnostics:
            if found in unread or found.code == "P004":
                render.say(f"line {found.line}: {found.code} {found.message}")
        for line in lost_words(self._lost):
            render.say(line)
        if self._repeated:
            render.say(repeated_words(self._repeated))
        if self._failures:
            render.say(f"not on record: {count(len(self._failures), 'block')}")
            raise self._failures[0]
        return 1 if unread or self._lost else 0


def _account(recorder: Recorder) -> None:
    for line in (*recorder.account.mended(), *recorder.account.uncovered()):
        render.say(line)
    if render.is_terminal(sys.stderr):
        render.say(recorder.account.total())
