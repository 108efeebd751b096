"""Reads and writes files for a model: only inside the work tree, and never git's own.

A file is replaced atomically: a process killed halfway leaves the old or the new content.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING

from gitckpt.errors import Refused, UsageError
from gitckpt.loop.actions import Action, action_of
from gitckpt.loop.arguments import EditArguments, ReadArguments, WriteArguments
from gitckpt.repo.lock import WRITTEN
from gitckpt.repo.private import write_file

if TYPE_CHECKING:
    from gitckpt.repo.repository import Repository

#: The maximum size in bytes of a file that is read or edited.
MOST = 10 * 1024 * 1024


class Files:
    """The files of one work tree."""

    def __init__(self, repository: Repository) -> None:
        self._top = os.path.realpath(repository.work_tree)
        self._gits = [os.path.realpath(path) for path in (repository.git_dir, repository.common_dir)]
        self._private = repository.private_dir

    def actions(self) -> list[Action]:
        """Return what a model can do with the files."""
        return [
            action_of(ReadArguments, "read_file", "Read lines of a text file, each with its number.", self.read),
            action_of(
                WriteArguments, "write_file", "Write a file, new or in place of what is there.", self.write,
                changes_files=True,
            ),
            action_of(
                EditArguments, "edit_file", "Replace a text that stands exactly once in a file.", self.edit,
                changes_files=True,
            ),
        ]  # fmt: skip

    def read(self, call: ReadArguments) -> str:
        """Return some lines of a file, with their numbers."""
        lines = self._content(self._place(call.path)).decode("utf-8", "replace").splitlines()
        shown = lines[call.first - 1 : call.first - 1 + call.count]
        rest = len(lines) - (call.first - 1) - len(shown)
        numbered = [f"{number:>5}  {line}" for number, line in enumerate(shown, call.first)]
        more = [f"({rest} more lines)"] if rest > 0 else []
        return "\n".join([*numbered, *more]) or f"({len(lines)} lines; none of those)"

    def write(self, call: WriteArguments) -> str:
        """Write a whole file."""
        place = self._place(call.path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        content = call.content.encode("utf-8", "replace")
        self._replace(place, content)
        return f"{call.path} is written: {len(content)} bytes."

    def edit(self, call: EditArguments) -> str:
        """Replace one text by another, if it occurs exactly once."""
        place = self._place(call.path)
        content, old = self._content(place), call.old.encode("utf-8", "replace")
        count = content.count(old)
        if count != 1:
            raise Refused(
                f"nothing was changed: `old` stands {count} times in {call.path}",
                "give more of the text around it" if count else "read the file, and give the text as it stands there",
            )
        self._replace(place, content.replace(old, call.new.encode("utf-8", "replace")))
        return f"{call.path} is changed."

    def _place(self, path: str) -> bytes:
        """Return the file that a path means, with symlinks resolved. Raises Refused if the model may not touch it."""
        if "\0" in path:
            raise UsageError("a path has no NUL", "give the path of a file")
        named = os.path.join(self._top, os.fsencode(path.encode("utf-8", "replace").decode()))
        place = os.path.realpath(named)
        if not place.startswith(self._top + b"/"):
            raise Refused(f"{path!r} is outside of the project", "give a path inside it")
        parts = [*os.path.normpath(named).lower().split(b"/"), *place.lower().split(b"/")]
        if b".git" in parts or any(place == git or place.startswith(git + b"/") for git in self._gits):
            raise Refused(f"{path!r} is git's own", "give a file of the project")
        return place

    def _content(self, place: bytes) -> bytes:
        self._refuse_unless_regular(place)
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return file.read()

    def _refuse_unless_regular(self, place: bytes) -> None:
        shown = os.fsdecode(place[len(self._top) + 1 :])
        try:
            found = os.lstat(place)
        except FileNotFoundError as error:
            raise Refused(f"there is no file {shown!r}", "shell can list what there is") from error
        if not stat.S_ISREG(found.st_mode):
            raise Refused(f"{shown!r} is no file", "shell can list what there is")
        if found.st_size > MOST:
            raise Refused(f"{shown!r} has {found.st_size:,} bytes", "look at a part of it with shell")

    def _replace(self, place: bytes, content: bytes) -> None:
        if os.path.lexists(place):
            self._refuse_unless_regular(place)
        write_file(place, content, mode=_mode(place), aside=self._aside(place), durable=True)

    def _aside(self, place: bytes) -> bytes:
        """Return the path of the temporary file: in our private directory, where no snapshot sees it, unless that is on
        another file system."""
        os.makedirs(self._private, exist_ok=True)
        if os.stat(self._private).st_dev != os.stat(os.path.dirname(place)).st_dev:
            return b""
        return os.path.join(self._private, WRITTEN + hashlib.sha256(place).hexdigest()[:16].encode())


def _mode(place: bytes) -> int | None:
    """Return the permission bits of the file to be replaced; None if it is a new one."""
    try:
        return stat.S_IMODE(os.stat(place).st_mode)
    except FileNotFoundError:
        return None
