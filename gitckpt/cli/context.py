"""`gitckpt context`: what an agent needs to go on from here, and not more."""

from __future__ import annotations

from gitckpt.cli import render
from gitckpt.repo.reader import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def context(*, budget: int | None = None, json: bool = False) -> int:
    """Print the prior context: SUMMARY blocks, the checkpoints after the last one, the latest state."""
    from gitckpt.trajectory.context import context_json

    if json:
        render.json(context_json(_entries(), budget))
    else:
        text = prior_context(budget).rstrip("\n")
        render.out([text] if text else [])
        if not text:
            render.say("nothing has been recorded on this line yet")
    return 0


def prior_context(budget: int | None) -> str:
    """The context of the line being recorded, as text for a prompt."""
    from gitckpt.trajectory.context import build_context

    return build_context(_entries(), budget)


def _entries() -> list[dict[str, Any]]:
    reader = Reader()
    session = reader.current_session()
    if session is None:
        return []
    current = reader.journal.current()
    line = current[1] if current and current[0] == session.id and current[1] in session.lines else session.active_line
    kinds = ("checkpoint", "summary", "retry", "final")
    return [{"kind": e.kind, "id": e.id, "fields": e.fields} for e in session.on_line(line) if e.kind in kinds]
