"""`gitckpt diff [A] [B]`: between two checkpoints, or one and the work tree."""

from __future__ import annotations

import os

from gitckpt.cli import render
from gitckpt.cli.elapsed import while_telling
from gitckpt.errors import Refused, UnknownId, UsageError
from gitckpt.repo.given import from_here
from gitckpt.repo.reader import Reader


def diff(names: list[str], *, stat: bool = False, json: bool = False) -> int:
    """Print the difference. The first arguments that name events are the sides; the rest are paths.

    With one side, or with none (which means the last event), the other side is the current work tree.
    """
    reader = Reader()
    sides, paths = _sides_and_paths(reader, names)
    before, after = (*sides, "")[:2] if sides else (_last(reader), "")
    if not after:
        from gitckpt.repo.worktree import WorkTree

        tree = WorkTree(reader.repository, render.say, lenient=True)
        with tree.lock:
            after = while_telling(tree.snapshotter.take).tree
        tree.close()
    _refuse_unknown(reader, (before, after), paths)
    if json:
        return _print_json(reader, before, after, paths)
    if stat:
        from gitckpt.repo.trees import numstat
        from gitckpt.views.diff import stat_lines

        render.paged(stat_lines(numstat(reader.git, before, after, paths), render.style(), render.columns() or 80))
        return 0
    from gitckpt.repo.trees import patch

    render.paged_bytes(patch(reader.git, before, after, paths, colour=render.style().colour))
    return 0


def _sides_and_paths(reader: Reader, names: list[str]) -> tuple[list[str], list[bytes]]:
    """Split the arguments into at most two events, and paths. An argument that is neither an event nor an existing path
    is an unknown event.
    """
    sides: list[str] = []
    for position, name in enumerate(names):
        if name == "--" or len(sides) == 2:
            return sides, list(from_here(reader.repository, names[position + (name == "--") :]))
        try:
            sides.append(reader.find(name).event.commit)
        except UnknownId:
            if not os.path.lexists(name):
                raise
            return sides, list(from_here(reader.repository, names[position:]))
    return sides, []


def _refuse_unknown(reader: Reader, trees: tuple[str, str], paths: list[bytes]) -> None:
    """Raise Refused for a path that neither side has: a mistyped path must not look like an unchanged one."""
    from gitckpt.repo.trees import holds_path

    for path in paths:
        somewhere = os.path.lexists(reader.repository.at(path))
        if not somewhere and not any(holds_path(reader.git, tree, path) for tree in trees):
            raise Refused(
                f"neither side of this difference has {os.fsdecode(path)!a}",
                "paths are meant from where you stand; without them, gitckpt diff --stat lists what differs",
            )


def _last(reader: Reader) -> str:
    session = reader.current_session()
    if session is None:
        raise UsageError("nothing has been recorded in this work tree yet", "gitckpt save records a first checkpoint")
    return session.lines[session.active_line]


def _print_json(reader: Reader, before: str, after: str, paths: list[bytes]) -> int:
    from gitckpt.repo.trees import changes
    from gitckpt.trajectory.paths import is_at_or_below
    from gitckpt.views.paths import changes_json

    found = changes(reader.git, before, after)
    asked = [(c.status, c.path, None) for c in found if not paths or is_at_or_below(c.path, paths)]
    render.json({"schema": "gitckpt.diff/1", "before": before, "after": after, "files": changes_json(asked)})
    return 0
