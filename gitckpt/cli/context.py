"""`gitckpt context`: what an agent needs to continue from here, and nothing more."""

from __future__ import annotations

from gitckpt.cli import render
from gitckpt.repo.reader import Reader


def context(*, budget: int | None = None, json: bool = False) -> int:
    """Print the prior context: SUMMARY blocks, the checkpoints after the last one, the latest state."""
    from gitckpt.trajectory.context import context_json

    if json:
        render.json(context_json(Reader().entries(), budget))
    else:
        text = prior_context(budget).rstrip("\n")
        render.out([render.shown(text)] if text else [])
        if not text:
            render.say("nothing has been recorded here to go on from; `gitckpt wrap -- CMD` records an agent")
    return 0


def prior_context(budget: int | None) -> str:
    """Return the context of the line being recorded, as text for a prompt."""
    from gitckpt.trajectory.context import build_context

    return build_context(Reader().entries(), budget)
