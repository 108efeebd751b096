"""gitckpt: git-native checkpoints for AI agents.

The public Python API. Importing the package is cheap: each name below loads its module when it is first used.

    >>> from gitckpt import parse_trajectory, replay_to, find_rollback_target
    >>> steps = parse_trajectory(open("agent.log").read())
    >>> replay_to(steps, "C6").next
    >>> find_rollback_target(steps, "CHECKPOINT 7").step_id

Text: `parse_trajectory`, `replay_to`, `find_rollback_target`, `Checkpoint`; `read_text`, `BlockReader`, `Block`;
`check`, `Finding`; `parse_hint`; `protocol_prompt`. A repository: `discover`, `Reader` to look, `WorkTree` with
`Recorder` to record, `Restorer` with `Wish` to go back. Everything that is raised on purpose is a `GitckptError`.
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.errors import GitckptError as GitckptError
    from gitckpt.protocol.blocks import Block as Block
    from gitckpt.protocol.hints import parse_hint as parse_hint
    from gitckpt.protocol.prompt import protocol_prompt as protocol_prompt
    from gitckpt.protocol.reader import BlockReader as BlockReader
    from gitckpt.protocol.reader import read_text as read_text
    from gitckpt.protocol.replay import Checkpoint as Checkpoint
    from gitckpt.protocol.replay import find_rollback_target as find_rollback_target
    from gitckpt.protocol.replay import parse_trajectory as parse_trajectory
    from gitckpt.protocol.replay import replay_to as replay_to
    from gitckpt.protocol.rules import Finding as Finding
    from gitckpt.protocol.rules import check as check
    from gitckpt.recorder import Recorder as Recorder
    from gitckpt.repo.reader import Reader as Reader
    from gitckpt.repo.repository import discover as discover
    from gitckpt.repo.worktree import WorkTree as WorkTree
    from gitckpt.restorer import Restorer as Restorer
    from gitckpt.wishes import Wish as Wish

#: Public name → the module that defines it.
_HOMES = {
    "Block": "gitckpt.protocol.blocks",
    "BlockReader": "gitckpt.protocol.reader",
    "Checkpoint": "gitckpt.protocol.replay",
    "Finding": "gitckpt.protocol.rules",
    "GitckptError": "gitckpt.errors",
    "Reader": "gitckpt.repo.reader",
    "Recorder": "gitckpt.recorder",
    "Restorer": "gitckpt.restorer",
    "Wish": "gitckpt.wishes",
    "WorkTree": "gitckpt.repo.worktree",
    "check": "gitckpt.protocol.rules",
    "discover": "gitckpt.repo.repository",
    "find_rollback_target": "gitckpt.protocol.replay",
    "parse_hint": "gitckpt.protocol.hints",
    "parse_trajectory": "gitckpt.protocol.replay",
    "protocol_prompt": "gitckpt.protocol.prompt",
    "read_text": "gitckpt.protocol.reader",
    "replay_to": "gitckpt.protocol.replay",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'gitckpt' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
