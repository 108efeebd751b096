"""What a tool leaves in the work tree: an `auto` checkpoint if files differ from the last event on record."""

from __future__ import annotations

import os

from gitckpt.trajectory.paths import path_data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitckpt.agents.signals import Boundary
    from gitckpt.agents.tool_call import ToolCall
    from gitckpt.recorder import Recorder
    from gitckpt.repo.snapshot import Snapshot
    from gitckpt.repo.trees import Change
    from gitckpt.repo.worktree import WorkTree

#: `--auto` value → the boundaries at which such a checkpoint is taken.
AUTO = {"tool": ("after", "turn"), "turn": ("turn",), "off": ()}

#: The maximum number of changed paths that are recorded.
MOST_PATHS = 100


class Aftermath:
    """One look at a work tree whose lock is held. A recorder that takes its snapshots through `around` reuses the
    snapshot of this look instead of taking another."""

    def __init__(self, tree: WorkTree) -> None:
        self._tree = tree
        self._taken: Snapshot | None = None
        self._found: list[Change] = []

    def around(self, take: Callable[[], Snapshot]) -> Snapshot:
        """Return the snapshot that `differs` took, the first time; after that, take new ones."""
        taken, self._taken = self._taken, None
        return taken or take()

    def differs(self, tip: str, recorded: str = "") -> bool:
        """Return whether the work tree now differs from the event at `tip`. `recorded` is the tree of that event, if
        known. Raises GitckptError."""
        self._taken = self._tree.snapshotter.take(recorded=recorded)
        if self._taken.tree == recorded:
            self._tree.snapshotter.settle(self._taken)
            self._found = []
        else:
            self._found = self._tree.changes(tip, self._taken.tree)[:MOST_PATHS]
        return bool(self._found)

    def record(self, recorder: Recorder, boundary: Boundary | ToolCall) -> None:
        """Record the differences that `differs` found. Raises GitckptError."""
        from gitckpt.agents.wording import boundary_record, boundary_words

        words = boundary_words(boundary, [os.fsdecode(change.path) for change in self._found])
        changed = [path_data(change.path) for change in self._found]
        recorder.auto(f"auto: {words}", {"boundary": boundary_record(boundary), "changed": changed})
