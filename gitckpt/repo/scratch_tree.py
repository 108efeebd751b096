"""A separate directory with the files of one event after another, for running a command on them. The user's work tree
is not touched."""

from __future__ import annotations

import os

from gitckpt.repo.room import make_room, remove
from gitckpt.repo.trees import tree_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from gitckpt.repo.gateway import Git
    from gitckpt.trajectory.events import Event


class ScratchTree:
    """A context manager: `at(event)` makes the directory match the event's snapshot, and returns its path.

    With `keep`, only what differs is written, and what a command left there stays, such as installed dependencies or
    build output. Without it, each event gets a directory with nothing but its own files."""

    def __init__(self, raw: Git, *, keep: bool = False) -> None:
        self._raw, self._keep, self._fresh = raw, keep, True

    def __enter__(self) -> ScratchTree:
        self._room = make_room("scratch")
        self._files, self._index = os.path.join(self._room, b"files"), os.path.join(self._room, b"index")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        remove(self._room)

    def at(self, event: Event) -> str:
        """Return the path of the directory, with the files of this event in it."""
        if not self._keep or self._fresh:
            self._clear()
        git = self._raw.view(
            "core.splitIndex=false", "core.fsync=none", cwd=self._files,
            GIT_WORK_TREE=self._files, GIT_INDEX_FILE=self._index,
        )  # fmt: skip
        git.run("read-tree", "--reset", "-u", tree_of(git, event.commit))
        # restore the event's own files that a command has changed or deleted
        git.run("checkout-index", "--all", "--force", "--quiet")
        self._fresh = False
        return os.fsdecode(self._files)

    def _clear(self) -> None:
        remove(self._files)
        if os.path.lexists(self._index):
            os.unlink(self._index)
        os.mkdir(self._files)
