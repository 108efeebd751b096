"""A run within a run: an agent under `wrap` that starts another agent under `wrap` in the same work tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitckpt.repo.live import is_attended
from gitckpt.trajectory.session import line_number

if TYPE_CHECKING:
    from gitckpt.repo.worktree import WorkTree


class OuterRun:
    """What a work tree was recording when a run began in it."""

    def __init__(self, tree: WorkTree) -> None:
        self._tree = tree
        self._session = (tree.journal.current() or ("", ""))[0]

    def goes_on(self, ended: str) -> None:
        """Make the work tree record in the outer session again, if its run is alive and the run of the `ended` session
        was the last to begin. Raise GitckptError."""
        journal, outer = self._tree.journal, self._session
        if outer in ("", ended) or not is_attended(self._tree.repository.private_dir, outer):
            return
        lines = journal.lines(outer).get(outer)
        if lines and (journal.current() or ("", ""))[0] == ended:
            self._tree.writer.set_current(outer, max(lines, key=line_number))
