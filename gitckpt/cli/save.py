"""`gitckpt save`: a manual checkpoint."""

from __future__ import annotations

from gitckpt.cli import render
from gitckpt.cli.elapsed import while_telling
from gitckpt.recorder import Recorder
from gitckpt.repo.repository import discover
from gitckpt.repo.worktree import WorkTree


def save(*, message: str = "", session: str | None = None) -> int:
    """Record the current work tree, and print the id of the checkpoint."""
    tree = WorkTree(discover(), render.say)
    recorder = Recorder(tree, name=session, around=while_telling)
    event = recorder.save(message)
    tree.close()
    render.out([f"{event.id} saved ({event.ref})"])
    if session is not None and recorder.account.opened:
        render.say(f"session {session} is new; gitckpt sessions lists all")
    for missing in event.missing:
        render.say(f"not covered: {missing['path']}: {missing['reason']}")
    return 0
